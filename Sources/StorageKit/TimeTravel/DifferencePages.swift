internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog
internal import StorageViews
internal import Synchronization

/// A difference that is read a page at a time from any task.
///
/// Sound as `@unchecked Sendable`: only `page` touches the difference and its cursor, and the lock admits one call at a time.
final class DifferencePages: @unchecked Sendable {
    private static let pageSize = 256

    let from: Int64
    let to: Int64
    private let cursor: NetDifference.Cursor
    private let lock = Mutex(())

    private init(_ difference: NetDifference) {
        from = difference.from
        to = difference.to
        cursor = difference.makeCursor()
    }

    static func make(
        _ engine: StorageEngine, from: StoragePoint, to: StoragePoint, tables: Set<String>
    ) async throws -> DifferencePages {
        try await engine.readLong { db in
            let connection = try db.connection
            let reader = LogReader(connection)
            var selection = NetDifference.Selection()
            selection.tables = tables
            return DifferencePages(
                try NetDifference(
                    connection, from: try reader.position(of: from), to: try reader.position(of: to),
                    selection: selection))
        }
    }

    /// The difference of one entity.
    ///
    /// - Throws: `not-found` for an entity that the store has never had.
    static func make(
        _ engine: StorageEngine, from: StoragePoint, to: StoragePoint, entity: String
    ) async throws -> DifferencePages {
        let isKnown = try await engine.read { db in
            try !Catalog.load(db.connection).entities(named: [entity]).isEmpty
        }
        guard isKnown else { throw StorageError.noEntity(entity) }
        return try await make(engine, from: from, to: to, tables: [entity])
    }

    /// Returns the next changes; empty at the end.
    func page() throws -> [NetChange] {
        try lock.withLock { _ in
            var changes: [NetChange] = []
            while changes.count < Self.pageSize, let change = try cursor.next() { changes.append(change) }
            return changes
        }
    }
}
