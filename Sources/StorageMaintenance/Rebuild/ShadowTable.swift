internal import StorageCore
internal import StorageLog

/// A table that is rebuilt beside the entity's own, and how far it has come.
///
/// An interrupted rebuild resumes with it: `ShadowTable+Resuming.swift`.
struct ShadowTable {
    let entity: UInt32
    /// The shadow holds what the log says up to here.
    var position: Int64
    /// What the catalog said of the entity when the shadow was made. Once it says something else the shadow is of no
    /// use.
    let definition: String
    /// Whether the shadow has neither types nor constraints: its table has foreign keys, or a row of the past breaks a
    /// constraint that came later.
    let isUnconstrained: Bool

    /// The shadow as it stands in SQL.
    var table: String { Self.table(entity) }
    static func table(_ entity: UInt32) -> String { quoted(name(entity)) }
    static func name(_ entity: UInt32) -> String { "storage_shadow_\(entity)" }

    /// The tables that an unfinished rebuild, and one that kept the old tables, have left.
    static func tables(_ database: Connection) throws -> [String] {
        try load(database).map { name($0.entity) } + RetainedTable.all(database)
    }
}
