internal import StorageLog

/// Which changed rows must be left out of the changes together with another one, because they have got unique values that it had
/// before: else each row of a series, such as one that all move up in, would take an attempt of its own.
///
/// Not `Sendable`: it belongs to its writer's thread. Rows are changed to find out, so the caller has to roll back to a savepoint.
///
/// - Complexity: O(n) in the changed rows, and O(log m) for each row that is left out, of a table with m rows.
struct UniqueValues {
    private let writer: LogWriter
    private var changes: [RowAddress: NetRow] = [:]

    /// A row that can't be changed, and why.
    struct Holder {
        let change: NetRow
        let reason: String
    }

    /// - Parameter start: The index of the first captured event of the changes.
    init(_ writer: LogWriter, changedFrom start: Int) {
        self.writer = writer
        collect(from: start)
    }

    /// Puts a row back to what it was before the changes.
    ///
    /// - Returns: The changed rows that had to be deleted for that.
    mutating func putBack(_ row: RowAddress, _ access: RowEditor) throws -> [Holder] {
        guard let change = changes[row], change.existed else { return [] }
        let key = row.values
        let current = try access.row(key)
        guard let before = change.before(current) else { return [] }
        let values = Dictionary(before.map { ($0.column, $0.value) }, uniquingKeysWith: { first, _ in first })
        let reason =
            try current == nil ? access.insert(key, values) : access.update(key, values, withOthers: false)
        guard let reason else { return [] }
        let start = writer.pendingEvents
        guard try access.insert(key, values, replaces: true) == nil else { return [] }
        return collect(from: start).filter { $0.row != row }.map { Holder(change: $0, reason: reason) }
    }

    /// Adds captured events to the changes of their rows.
    ///
    /// - Returns: The earlier changes of those that were deleted.
    @discardableResult
    private mutating func collect(from start: Int) -> [NetRow] {
        let view = writer.captured
        var deleted: [NetRow] = []
        for index in start..<view.count {
            let change = NetRow(view, event: index)
            let earlier = changes[change.row]
            changes[change.row] = earlier?.followed(by: change) ?? change
            if !change.exists, let earlier { deleted.append(earlier) }
        }
        return deleted
    }
}
