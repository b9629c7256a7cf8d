internal import StorageCore
package import StorageLog

/// What a rebuild would do.
package struct RebuildPlan: Sendable {
    package struct Table: Sendable {
        package let name: String
        /// Rows that the table has now; none if it is missing.
        package let rows: Int64
        /// The position that an interrupted rebuild has reached.
        package let resumesAt: Int64
    }

    package let tables: [Table]
    /// The last position that would be read.
    package let head: Int64

    /// - Parameter names: The entities; all where empty.
    package init(_ names: [String], _ database: Connection) throws {
        let catalog = try Catalog.load(database)
        let shadows = try ShadowTable.load(database).filter { $0.fits(catalog) }
        head = try LogHead.load(database).position
        let entities = names.isEmpty ? catalog.live : names.compactMap(catalog.entity(named:))
        let definitions = try StoredDefinitions(database)
        tables = try entities.map { entity in
            Table(
                name: entity.name, rows: try Self.rows(of: entity, in: definitions),
                resumesAt: shadows.first { $0.entity == entity.id }?.position ?? 0)
        }
    }

    private static func rows(of entity: CatalogEntity, in definitions: StoredDefinitions) throws -> Int64 {
        // Another program may have dropped the table, which is a reason to rebuild it.
        guard definitions.definition(of: entity.stored) != nil else { return 0 }
        definitions.database.forgetCompiledStatements()
        let count = try PreparedStatement(
            definitions.database, "SELECT count(*) FROM \(quoted(entity.stored))")
        return try count.step() ? count.integer(0) : 0
    }
}
