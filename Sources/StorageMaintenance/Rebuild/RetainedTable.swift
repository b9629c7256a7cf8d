internal import StorageCore
internal import StorageLog

/// Copies of old tables that rebuilds have kept: plain tables that aren't used otherwise.
enum RetainedTable {
    private static let prefix = "storage_kept_"
    /// Tables of programs' projections are known by their names, those of entities by numbers.
    private static let infix = "of_"

    static func name(of entity: CatalogEntity) -> String { "\(prefix)\(entity.id)" }
    static func name(ofProjected table: String) -> String { prefix + infix + table }

    static func all(_ database: Connection) throws -> [String] {
        let select = try PreparedStatement(
            database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '\(prefix)*' ORDER BY name")
        var names: [String] = []
        while try select.step() { names.append(select.string(0)) }
        return names
    }

    /// What they are copies of, as people know it.
    static func originals(_ database: Connection) throws -> [String] {
        let entities = try Catalog.load(database).entities
        return try all(database).compactMap { name in
            if name.hasPrefix(prefix + infix) { return String(name.dropFirst(prefix.count + infix.count)) }
            return entities.first { self.name(of: $0) == name }?.name
        }.sorted()
    }

    /// Checks that no earlier copy exists, which may be a user's only one.
    ///
    /// - Parameter original: The table's name, as users know it.
    /// - Throws: `conflict` if a copy exists.
    static func checkFree(_ name: String, of original: String, _ database: Connection) throws {
        guard try all(database).contains(where: { $0.folded == name.folded }) else { return }
        throw StorageError(
            .conflict, "An earlier rebuild has kept the old table of \"\(original)\" as \(name).",
            remedy: "Copy what you need, discard it (storagekit rebuild --abandon), then keep another.")
    }

    /// Creates a copy: the table itself would continue to take part in foreign keys.
    static func keep(_ table: String, as name: String, _ database: Connection) throws {
        try PreparedStatement(database, "CREATE TABLE \(quoted(name)) AS SELECT * FROM \(quoted(table))").execute()
    }
}
