internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageLog

/// Giving tables the rows that the log has for them.
extension RebuildWriter {
    /// Replaces the rows of entities' tables with those of their shadows, inside the current commit: if that is undone, so
    /// is this. Nothing is captured, and the tables themselves stay.
    ///
    /// - Returns: The entities whose rows have kept their rowids, see ``KeptRowids``.
    /// - Precondition: No earlier commit of the same transaction has changed rows, which the log doesn't have yet.
    func restoreRows(_ entities: Set<UInt32>) throws -> Set<UInt32> {
        try writer.asEngine {
            // References are sound in the log, and between these tables only once all of them are filled.
            writer.database.setForeignKeysEnabled(false)
            defer { writer.database.setForeignKeysEnabled(true) }
            var shadows = try shadows(entities)
            while shadows.contains(where: { $0.position < writer.head.position }) {
                shadows = try follow(shadows) { _ in false }
            }
            let restored = shadows.compactMap { writer.catalog.entity(id: $0.entity) }
            let kept = try restored.filter { try restoreRows(of: $0) }
            // The rows may have other rowids now.
            try FullTextProjection(writer).rebuild(restored, in: writer)
            return Set(kept.map(\.id))
        }
    }

    /// - Returns: Whether the rows have kept their rowids.
    private func restoreRows(of entity: CatalogEntity) throws -> Bool {
        let table = quoted(entity.stored)
        let shadow = ShadowTable.table(entity.id)
        let rowids = try KeptRowids(of: entity, writer.database).assign(to: shadow, as: entity)
        let list = (rowids + entity.live.map { quoted($0.stored) } + ["_position"]).joined(separator: ", ")
        try PreparedStatement(writer.database, "DELETE FROM \(table)").execute()
        try PreparedStatement(
            writer.database,
            "INSERT OR ABORT INTO \(table)(\(list)) SELECT \(list) FROM \(shadow)"
        ).execute()
        try RowidCounter(of: entity, writer.database).advance()
        return !rowids.isEmpty
    }
}
