internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog
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
            DifferencePages(try difference(db.connection, from: from, to: to, tables: tables))
        }
    }

    /// The difference of one entity.
    ///
    /// - Throws: `not-found` for an entity that the store has never had.
    static func make(
        _ engine: StorageEngine, from: StoragePoint, to: StoragePoint, entity: String
    ) async throws -> DifferencePages {
        try await engine.readLong { db in
            let connection = try db.connection
            let found = try difference(connection, from: from, to: to, tables: [entity])
            guard found.tables.isEmpty else { return DifferencePages(found) }
            // At neither point an entity may have the name: those that had it may have another one.
            guard let names = try currentNames(ofEntitiesNamed: entity, connection) else {
                throw StorageError.noEntity(entity)
            }
            // No names would select every entity.
            guard !names.isEmpty else { return DifferencePages(found) }
            return DifferencePages(try difference(connection, from: from, to: to, tables: names))
        }
    }

    private static func difference(
        _ connection: Connection, from: StoragePoint, to: StoragePoint, tables: Set<String>
    ) throws -> NetDifference {
        let reader = LogReader(connection)
        var selection = NetDifference.Selection()
        selection.tables = tables
        return try NetDifference(
            connection, from: try reader.position(of: from), to: try reader.position(of: to), selection: selection)
    }

    /// The names that entities have today which have the name or had it; nil without such entities. Reads the changes of the schema.
    private static func currentNames(ofEntitiesNamed entity: String, _ connection: Connection) throws -> Set<String>? {
        let name = ExactText(entity)
        var ids: Set<UInt32> = []
        try SchemaHistory(LogReader(connection)).forEachCommit(in: 1...Int64.max, descending: false) { _, changes in
            for change in changes where ExactText(change.entity.name) == name { ids.insert(change.entity.id) }
            return true
        }
        guard !ids.isEmpty else { return nil }
        let catalog = try Catalog.load(connection)
        // The name of an entity that was dropped may be another one's now.
        return Set(
            ids.compactMap { catalog.entity(id: $0) }
                .filter { !$0.isReserved && (!$0.isDropped || catalog.entity(named: $0.name) == nil) }.map(\.name))
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
