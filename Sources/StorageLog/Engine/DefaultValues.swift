internal import CSQLite
package import StorageCore

/// Evaluates the SQL literal of a DEFAULT clause by storing it in a column of the same affinity: `CAST` follows other rules (it
/// keeps 0.0 in a NUMERIC column, where SQLite stores 0).
///
/// Not `Sendable`: created where it is used.
package final class DefaultValues {
    private var database: Connection?

    package init() {}

    deinit { database?.close() }

    /// The value; NULL for defaults that depend on the time or on the program's own functions, which never apply to existing
    /// rows: SQLite refuses them in ADD COLUMN.
    ///
    /// NULL too if a STRICT table refuses the default, which SQLite checks only when a row uses it.
    package func value(of literal: String, type: String, isStrict: Bool) throws -> StorageValue {
        let scratch = try scratch()
        // STRICT tables have few, known types; others may have any, and only their affinity counts.
        let declared = isStrict ? type : ColumnAffinity(declaredType: type).rawValue
        try PreparedStatement(scratch, "DROP TABLE IF EXISTS held").execute()
        // A declared default may be a bare word, which is a text, or an expression in parentheses; SQLite reports both without
        // the difference.
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
