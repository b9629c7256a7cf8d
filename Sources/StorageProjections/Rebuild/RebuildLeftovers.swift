internal import StorageCore
internal import StorageLog

/// What rebuilds have left beside the tables.
package struct RebuildLeftovers: Sendable, Equatable {
    /// The users' entities whose new tables an interrupted rebuild was making.
    package let unfinished: [String]
    /// The entities of which a rebuild has kept the old tables.
    package let kept: [String]
    package let isEmpty: Bool

    package init(_ database: OpaquePointer) throws {
        let entities = try Catalog.load(database).entities
        let shadows = Set(try Shadow.load(database).map(\.entity))
        let table = try Statement(database, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
        unfinished = entities.filter { shadows.contains($0.id) && !$0.isReserved }.map(\.name).sorted()
        kept = try entities.filter { entity in
            defer { table.reset() }
            table.bind(text: Shadow.kept(entity.id), at: 1)
            return try table.step()
        }.map(\.name).sorted()
        isEmpty = shadows.isEmpty && kept.isEmpty
    }
}
