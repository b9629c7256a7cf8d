internal import CSQLite
internal import StorageCore
package import StorageLog

/// What rebuilds have left beside the tables.
package struct RebuildLeftovers: Sendable, Equatable {
    /// The users' entities whose new tables an interrupted rebuild was making.
    package let unfinished: [String]
    /// The tables, of entities and of programs' projections, whose old versions a rebuild has kept.
    package let kept: [String]
    /// The programs' projections whose new tables an interrupted rebuild was making.
    package let projections: [String]
    package let isEmpty: Bool

    package init(_ database: Connection) throws {
        let entities = try Catalog.load(database).entities
        let shadows = Set(try ShadowTable.load(database).map(\.entity))
        unfinished = entities.filter { shadows.contains($0.id) && !$0.isReserved }.map(\.name).sorted()
        kept = try RetainedTable.originals(database)
        let path = database.path ?? ""
        projections = path.isEmpty ? [] : ProjectionRebuildFile.projections(besides: path)
        isEmpty = shadows.isEmpty && kept.isEmpty && projections.isEmpty
    }
}
