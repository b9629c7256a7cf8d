internal import StorageCore
internal import StorageLog

/// Resuming an interrupted rebuild.
///
/// - A shadow's position is stored in the same transactions as its rows, so after a crash both are there or neither is.
/// - The next rebuild continues from the position if the shadow ``isResumable(_:)``, and starts over otherwise.
/// - Projections of programs are resumed from their own position, which is stored in their file
///   (``RebuiltProjection``).
extension ShadowTable {
    /// Whether a rebuild can continue with it. A shadow at position 0 may contain a part of an interrupted copy.
    func isResumable(_ catalog: Catalog) -> Bool { position > 0 && fits(catalog) }

    /// Whether it still matches the entity's definition.
    func fits(_ catalog: Catalog) -> Bool {
        guard let known = catalog.entity(id: entity), !known.isDropped else { return false }
        return Catalog.text(of: known.definition) == definition
    }

    static func load(_ database: Connection) throws -> [ShadowTable] {
        let select = try PreparedStatement(
            database, "SELECT entity, position, definition, loose FROM storage_shadow ORDER BY entity")
        var shadows: [ShadowTable] = []
        while try select.step() {
            let position = select.integer(1)
            shadows.append(
                ShadowTable(
                    entity: UInt32(truncatingIfNeeded: select.integer(0)),
                    // One that is at no position of a log is begun again.
                    position: Limits.numbers.contains(position) ? position : 0,
                    definition: select.string(2), isUnconstrained: select.integer(3) != 0))
        }
        return shadows
    }

    func save(_ writer: LogWriter) throws {
        let insert = try writer.statement(
            """
            INSERT INTO storage_shadow(entity, position, definition, loose) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT(entity) DO UPDATE SET position = ?2, definition = ?3, loose = ?4
            """)
        insert.bind(Int64(entity), at: 1)
        insert.bind(position, at: 2)
        insert.bind(text: definition, at: 3)
        insert.bind(isUnconstrained ? 1 : 0, at: 4)
        try insert.execute()
    }
}
