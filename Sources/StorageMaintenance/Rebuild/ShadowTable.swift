internal import StorageCore
internal import StorageLog

/// A table that is rebuilt beside the entity's own, and its progress.
///
/// An interrupted rebuild resumes with it: `ShadowTable+Resuming.swift`.
struct ShadowTable {
    let entity: UInt32
    /// The position that the shadow reflects.
    var position: Int64
    /// The entity's definition in the catalog when the shadow was created. If it has changed, the shadow can't be used.
    let definition: String
    /// Whether the shadow has neither types nor constraints: its table has foreign keys or a CHECK that contains its name, or a
    /// historical row violates a constraint that was added later.
    let isUnconstrained: Bool

    /// The shadow's quoted name in SQL.
    var table: String { Self.table(entity) }
    static func table(_ entity: UInt32) -> String { quoted(name(entity)) }
    static func name(_ entity: UInt32) -> String { "storage_shadow_\(entity)" }

    /// The names of all shadows, and of the tables that rebuilds have kept.
    static func tables(_ database: Connection) throws -> [String] {
        try load(database).map { name($0.entity) } + RetainedTable.all(database)
    }
}
