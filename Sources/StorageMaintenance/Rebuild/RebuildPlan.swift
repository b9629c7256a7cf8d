internal import StorageCore
package import StorageLog

/// What a rebuild would do.
package struct RebuildPlan: Sendable {
    package struct Table: Sendable {
        package let name: String
        /// Rows that the table has now.
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
        tables = try entities.map { entity in
            let count = try PreparedStatement(database, "SELECT count(*) FROM \(quoted(entity.stored))")
            return Table(
                name: entity.name, rows: try count.step() ? count.integer(0) : 0,
                resumesAt: shadows.first { $0.entity == entity.id }?.position ?? 0)
        }
    }
}
