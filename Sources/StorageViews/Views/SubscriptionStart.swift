internal import StorageCore
internal import StorageEntities

/// When a subscription has its first value.
///
/// ```swift
/// let immediate = QuerySubscription(storage.query(User.self).orderBy(\.name), start: .immediate)
/// ```
public enum SubscriptionStart: Sendable {
    /// Before the initialiser returns if the query finds a row by its key, which costs microseconds; otherwise in the
    /// background, so that no query blocks the main actor.
    case automatic
    /// Before its initialiser returns, which waits for the database: for a short list that a screen needs at once, and that
    /// an index answers.
    case immediate
    /// Soon after the initialiser returns; it is read on a separate connection, so that a slow query delays no other
    /// view. Until then ``StorageSubscription/isLoading`` is true.
    case background
}

extension SubscriptionStart {
    /// Whether the first value of a query is read at once.
    func isImmediate(for request: RowRequest, of table: QueryTable) -> Bool {
        switch self {
        case .immediate: true
        case .background: false
        case .automatic: request.findsRowByKey(of: table)
        }
    }
}

extension RowRequest {
    /// Whether a row at most is found, by its key, without looking at others.
    fileprivate func findsRowByKey(of table: QueryTable) -> Bool {
        guard relations.isEmpty, let predicate else { return false }
        var parts = [predicate]
        if case .all(let all) = predicate { parts = all }
        guard parts.allSatisfy(\.isEvaluable) else { return false }
        return !table.key.isEmpty
            && table.key.allSatisfy { key in
                parts.contains { part in
                    guard case .comparison(let column, .equal, .value, nil) = part else { return false }
                    return column == table.columns[key].name
                }
            }
    }
}
