package import GRDB
internal import StorageCore
internal import StorageLog
internal import Synchronization

extension MaterializedSnapshot {
    /// That many events are applied in any case, even if fewer would recreate the tables.
    private static let shortDistance: Int64 = 1_024

    /// Moves the tables that exist already to another position, by applying or undoing the events in between.
    ///
    /// - Returns: Whether it was possible: not if the schema differs there, or if recreating the tables is less work.
    package func move(to target: Int64, from live: GRDB.Database) throws -> Bool {
        let current = position
        guard target != current else { return true }
        // Applying such a delete again can't restore the row that another program has inserted.
        guard target < current || target < firstReplacement.withLock({ $0 }) else { return false }
        guard (target - current).magnitude <= UInt64(max(target, Self.shortDistance)) else { return false }
        let source = try live.connection
        guard try Catalog.load(source, at: target) == recordedCatalog else { return false }
        // The current schema was requested, and it has changed since.
        if schema == .current, try Catalog.load(source) != catalog { return false }
        let entities = try filled.withLock { ids in catalog.live.filter { ids.contains($0.id) } }
            .map { try withDeclaredDefaults($0, of: source) }
        // Columns with converted values hold values that are in no event.
        let isConverted = try entities.contains { entity in
            try recordedCatalog.entity(id: entity.id).map { try !conversions(of: entity, past: $0).isEmpty } ?? false
        }
        if isConverted { return false }
        var replacement = Int64.max
        let isMoved = try database.writeWithoutTransaction { db in
            let connection = try db.connection
            try PreparedStatement(connection, "BEGIN").execute()
            do {
                let fold = Fold(
                    connection, targets: entities.map(self.target), checks: false,
                    direction: target > current ? .forward : .backward)
                let positions = min(target, current) + 1...max(target, current)
                try LogReader(source).forEachBatch(
                    in: positions, descending: target < current, where: fold.wants
                ) { batch in
                    try fold.apply(batch, in: positions, replaced: { replacement = min(replacement, $0.position) })
                    return true
                }
                // An index of other rows would return wrong results; it is rebuilt by the next search.
                let indexed = searchable.withLock { $0 }
                for index in try FullTextIndex.load(connection) where indexed.contains(index.entity) {
                    try PreparedStatement(connection, "DROP TABLE \(quoted(index.table))").execute()
                }
                try PreparedStatement(connection, "COMMIT").execute()
            } catch {
                // The original error is the relevant one.
                try? PreparedStatement(connection, "ROLLBACK").execute()
                // A row of the past may violate a constraint that its table got later, and a row that another program had deleted
                // can't be undone: then the tables are recreated.
                if let error = error as? StorageError, [.conflict, .corrupt].contains(error.code) { return false }
                throw error
            }
            db.clearSchemaCache()
            return true
        }
        guard isMoved else { return false }
        currentPosition.withLock { $0 = target }
        if target < current { note(replacement: replacement) }
        searchable.withLock { $0.removeAll() }
        return true
    }

    /// - Parameter position: That of a delete whose undoing has replaced a row.
    func note(replacement position: Int64) { firstReplacement.withLock { $0 = min($0, position) } }
}
