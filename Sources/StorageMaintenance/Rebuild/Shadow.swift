internal import StorageCore
internal import StorageLog

/// A table that is rebuilt beside the entity's own, and how far it has come.
///
/// It is remembered in the store, in the same transactions as the shadow's rows, so that a rebuild that was interrupted
/// goes on where it stood.
struct Shadow {
    let entity: UInt32
    /// The shadow holds what the log says up to here.
    var position: Int64
    /// What the catalog said of the entity when the shadow was made. Once it says something else the shadow is of no
    /// use.
    let definition: String
    /// Whether the shadow has neither types nor constraints: its table has foreign keys, or a row of the past breaks a
    /// constraint that came later.
    let isLoose: Bool

    /// The shadow as it stands in SQL.
    var table: String { Self.table(entity) }
    static func table(_ entity: UInt32) -> String { quoted(name(entity)) }
    static func name(_ entity: UInt32) -> String { "storage_shadow_\(entity)" }

    static func load(_ database: Connection) throws -> [Shadow] {
        let select = try PreparedStatement(
            database, "SELECT entity, position, definition, loose FROM storage_shadow ORDER BY entity")
        var shadows: [Shadow] = []
        while try select.step() {
            let position = select.integer(1)
            shadows.append(
                Shadow(
                    entity: UInt32(truncatingIfNeeded: select.integer(0)),
                    // One that is at no position of a log is begun again.
                    position: Limits.numbers.contains(position) ? position : 0,
                    definition: select.string(2), isLoose: select.integer(3) != 0))
        }
        return shadows
    }

    /// The tables that an unfinished rebuild, and one that kept the old tables, have left.
    static func tables(_ database: Connection) throws -> [String] {
        try load(database).map { name($0.entity) } + RetainedTable.all(database)
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
        insert.bind(isLoose ? 1 : 0, at: 4)
        try insert.execute()
    }

    /// Whether it is what the entity needs now.
    func fits(_ catalog: Catalog) -> Bool {
        guard let known = catalog.entity(id: entity), !known.isDropped else { return false }
        return Catalog.text(of: known.definition) == definition
    }
}
