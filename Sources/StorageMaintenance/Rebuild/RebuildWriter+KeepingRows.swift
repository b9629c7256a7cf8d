internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// Keeping rows that the log may have lost.
///
/// A row or tombstone with a position after the log's end is of a lost event, or another program has written that position. Nothing
/// distinguishes the two, so such a table is replaced only if that changes nothing but positions.
extension RebuildWriter {
    /// - Throws: `corrupt` if replacing the entity's table with the shadow, which is at the end of the log, could lose rows.
    func checkIsNotAhead(of shadow: ShadowTable, _ entity: CatalogEntity) throws {
        let head = writer.head.position
        guard let last = try entity.lastTablePosition(in: writer.database), last > head,
            try differs(shadow, from: entity)
        else { return }
        throw StorageError(
            .corrupt,
            "The table \"\(entity.name)\" can't be replaced: its last change is @\(last), and the log ends at @\(head). The log may have lost events, whose rows a rebuild would discard.",
            remedy: "Restore a backup: storagekit restore BACKUP -o NEW. " + Self.alternative(to: entity))
    }

    private static func alternative(to entity: CatalogEntity) -> String {
        // Neither recorded nor kept as a copy.
        guard !entity.isReserved else { return "To rebuild your own tables only, name them: storagekit rebuild TABLE" }
        return
            "Without one, make events of what the tables have: storagekit record. To rebuild anyway, and keep a copy of the old table: storagekit rebuild --keep"
    }

    private func differs(_ shadow: ShadowTable, from entity: CatalogEntity) throws -> Bool {
        let definitions = try StoredDefinitions(writer.database, of: entity.stored)
        let isLacking = try ForeignSchemaChange(of: entity, in: definitions)?.lacksColumns ?? false
        guard !isLacking else { return true }
        var isFound = false
        _ = try shadow.compare(with: entity, in: writer.database) { difference in
            if case .different(_, let column, _, _) = difference, column == "_position" { return true }
            isFound = true
            return false
        }
        return isFound
    }
}
