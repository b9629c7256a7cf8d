internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageRouting

/// The rows of an entity that a plain SQL statement reads: changes of other rows leave its result unchanged.
///
/// 1. Changes are folded to one for each row and matched as for a live query's condition: a row that meets the condition neither before nor after
///    doesn't affect the statement.
/// 2. A row that was deleted and inserted again with the same values affects the statement: without an ORDER BY it may appear later.
/// 3. Uncertain cases count as affecting it: a custom collation, a row that can't be read.
/// 4. SQLite reports a bound value only up to the first NUL, and texts with a NUL can't be stored. So bound texts may only be compared for equality:
///    then too many rows may match, and never too few.
struct RowFilter: Sendable {
    private let entity: CatalogEntity
    private let predicate: RowPredicate
    /// The condition as text, such as `year >= 2000 AND novelistId = 'a'`.
    let text: String
    /// With more events than this, running the statement costs less than filtering.
    private static let eventLimit: Int64 = 20_000

    /// - Parameters:
    ///   - sql: The statement with its bound values expanded.
    ///   - isBound: Whether values were bound to it.
    /// - Returns: Nil for a statement whose rows can't be determined.
    init?(_ sql: String, isBound: Bool, of entity: CatalogEntity) {
        guard let select = PlainSelect(sql), select.table.folded == entity.stored.folded else { return nil }
        var predicates: [RowPredicate] = []
        for term in select.terms {
            guard let column = entity.live.first(where: { $0.stored.folded == term.column.folded })?.name else {
                return nil
            }
            predicates.append(term.predicate(of: column))
            guard !isBound || !term.hasText || term.isEquality else { return nil }
        }
        self.entity = entity
        predicate = .all(predicates)
        text = select.terms.map(\.description).joined(separator: " AND ")
    }

    /// Returns whether some events, none of which changes the entity's columns, may change the statement's result.
    ///
    /// - Parameters:
    ///   - positions: The positions of the events, up to the state of `db`.
    ///   - columns: The columns that the statement reads, by their ids; nil for all.
    func isConcerned(
        by positions: ClosedRange<Int64>, reading columns: Set<UInt32>?, _ db: Database
    ) throws -> Bool {
        guard positions.upperBound - positions.lowerBound < Self.eventLimit else { return true }
        let connection = try db.connection
        let layout = RowLayout(entity, in: connection)
        let router = Router()
        router.add(layout)
        let read = columns.map { ids in layout.columns.filter { ids.contains($0.id) }.map(\.name) }
        _ = try router.register(
            layout.entity, where: predicate, affecting: read.map { try layout.mask(of: $0) } ?? .all)
        let changes = ChangeFold()
        router.empty(changes)
        var batches: [EventBatch] = []
        try LogReader(connection).forEachBatch(in: positions, where: { $0.entities.contains(layout.entity) }) { batch in
            let first = batch.header.first
            let events = positions.clamped(to: batch.positions)
            batches.append(batch)
            batch.withView {
                changes.add($0, Int(events.lowerBound - first)..<Int(events.upperBound - first) + 1, first: first)
            }
            return true
        }
        changes.finish(keepsReplaced: true)
        // The changes hold pointers into the batches.
        return withExtendedLifetime(batches) { !router.route(changes, rows: CurrentRows(db)).isEmpty }
    }
}

extension PlainSelect.Term {
    fileprivate func predicate(of column: String) -> RowPredicate {
        switch test {
        case .comparison(let comparison, let value): .comparison(column: column, comparison, .value(value))
        case .among(let values): .among(column: column, values)
        case .between(let lower, let upper): .between(column: column, lower, upper)
        case .isNull: .isNull(column: column)
        case .isNotNull: .not(.isNull(column: column))
        }
    }

    private var values: [StorageValue] {
        switch test {
        case .comparison(_, let value): [value]
        case .among(let values): values
        case .between(let lower, let upper): [lower, upper]
        case .isNull, .isNotNull: []
        }
    }

    fileprivate var hasText: Bool {
        values.contains { value in
            if case .text = value { return true }
            return false
        }
    }

    fileprivate var isEquality: Bool {
        switch test {
        case .comparison(.equal, _), .among: true
        default: false
        }
    }
}

extension PlainSelect.Term: CustomStringConvertible {
    /// The term as it is written in SQL.
    var description: String {
        let values = values.map { value in
            if case .text(let text) = value { return text.quotedAsText }
            if case .integer(let number) = value { return "\(number)" }
            return "NULL"
        }
        return switch test {
        case .comparison(let comparison, _): "\(column) \(comparison.rawValue) \(values[0])"
        case .among: "\(column) IN (\(values.joined(separator: ", ")))"
        case .between: "\(column) BETWEEN \(values[0]) AND \(values[1])"
        case .isNull: "\(column) IS NULL"
        case .isNotNull: "\(column) IS NOT NULL"
        }
    }
}
