internal import CSQLite
package import StorageCore

/// Tells which value an SQL literal in a DEFAULT clause gives to rows, by storing it in a column of the same affinity:
/// `CAST` follows other rules (it leaves 0.0 in a NUMERIC column, where SQLite stores 0).
///
/// Not `Sendable`: made where it is used.
package final class DefaultValues {
    private var database: Connection?

    package init() {}

    deinit { database?.close() }

    /// The value; NULL for defaults that depend on the moment or on the program's own functions, which never stand for
    /// rows from before: SQLite refuses them in ADD COLUMN.
    ///
    /// NULL too where a STRICT table refuses the default, which SQLite looks at when a row takes it.
    package func value(of literal: String, type: String, isStrict: Bool) throws -> StorageValue {
        let scratch = try scratch()
        // The names of types in STRICT tables are few and known; others may be anything, and only their affinity counts.
        let declared = isStrict ? type : ColumnAffinity(declaredType: type).rawValue
        try PreparedStatement(scratch, "DROP TABLE IF EXISTS held").execute()
        // Where it is declared, a word is a text, and what isn't a literal is in parentheses, which SQLite doesn't say.
        let table = [literal, "(\(literal))"].lazy.compactMap { definition in
            try? PreparedStatement(
                scratch, "CREATE TABLE held(value \(declared) DEFAULT \(definition))\(isStrict ? " STRICT" : "")")
        }.first
        guard let table, (try? table.execute()) != nil,
            let insert = try? PreparedStatement(scratch, "INSERT INTO held DEFAULT VALUES")
        else { return .null }
        do {
            try insert.execute()
        } catch let error as StorageError where isStrict && error.code == .conflict {
            return .null
        }
        let select = try PreparedStatement(scratch, "SELECT value FROM held")
        return try select.step() ? select.row.value(at: 0) : .null
    }

    private func scratch() throws -> Connection {
        if let database { return database }
        let opened = try Connection(
            opening: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
            orFailWith: "there is no memory for a scratch database")
        database = opened
        return opened
    }
}
