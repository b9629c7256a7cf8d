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
    /// - Precondition: No earlier commit of the same transaction has changed rows, which the log doesn't have yet.
    func restoreRows(_ entities: Set<UInt32>) throws {
        try writer.asEngine {
            // References are sound in the log, and between these tables only once all of them are filled.
            writer.database.setForeignKeysEnabled(false)
            defer { writer.database.setForeignKeysEnabled(true) }
            var shadows = try shadows(entities)
            while shadows.contains(where: { $0.position < writer.head.position }) {
                shadows = try follow(shadows) { _ in false }
            }
            let restored = shadows.compactMap { writer.catalog.entity(id: $0.entity) }
            for entity in restored { try restoreRows(of: entity) }
            // The rows may have other rowids now.
            try FullTextProjection(writer).rebuild(restored, in: writer)
        }
    }

    private func restoreRows(of entity: CatalogEntity) throws {
        let table = quoted(entity.stored)
        let list = (entity.live.map { quoted($0.stored) } + ["_position"]).joined(separator: ", ")
        try PreparedStatement(writer.database, "DELETE FROM \(table)").execute()
        try PreparedStatement(
            writer.database,
            "INSERT OR ABORT INTO \(table)(\(list)) SELECT \(list) FROM \(ShadowTable.table(entity.id))"
        ).execute()
        try RowidCounter(of: entity, writer.database).advance()
    }
}
