package import StorageCore

/// Evaluates the SQL literal of a DEFAULT clause by storing it in a column of the same affinity: `CAST` follows other rules (it
/// keeps 0.0 in a NUMERIC column, where SQLite stores 0).
///
/// Not `Sendable`: created where it is used.
package final class DefaultValues {
    /// What a default's value depends on.
    private struct Declaration: Hashable {
        let literal: ExactText
        let type: ExactText
        let isStrict: Bool
        let isAdded: Bool
    }

    private var database: Connection?
    /// Most tables declare a few defaults again and again, and evaluating one makes a table.
    private var known: [Declaration: StorageValue] = [:]
    /// How many defaults had to be evaluated.
    private(set) var evaluations = 0

    package init() {}

    deinit { database?.close() }

    /// The value; NULL for defaults that depend on the time or on the program's own functions, which never apply to existing
    /// rows: SQLite refuses them in ADD COLUMN.
    ///
    /// NULL too if a STRICT table refuses the default, which SQLite checks only when a row uses it.
    ///
    /// - Parameter isAdded: Whether it is for the rows that exist when the column is added. If the column has no type, SQLite makes
    ///   integers of their whole reals: `DEFAULT 1.0` is 1 for them, and 1.0 for new rows.
    package func value(of literal: String, type: String, isStrict: Bool, isAdded: Bool) throws -> StorageValue {
        let declaration = Declaration(
            literal: ExactText(literal), type: ExactText(type), isStrict: isStrict, isAdded: isAdded)
        if let value = known[declaration] { return value }
        let value = try evaluated(literal, type: type, isStrict: isStrict, isAdded: isAdded)
        evaluations += 1
        known[declaration] = value
        return value
    }

    private func evaluated(_ literal: String, type: String, isStrict: Bool, isAdded: Bool) throws -> StorageValue {
        let scratch = try scratch()
        // STRICT tables have few, known types; others may have any, and only their affinity counts.
        let declared = isStrict ? type : ColumnAffinity(declaredType: type).rawValue
        try PreparedStatement(scratch, "DROP TABLE IF EXISTS held").execute()
        let rest = isStrict ? " STRICT" : ""
        if isAdded {
            try PreparedStatement(scratch, "CREATE TABLE held(id INTEGER PRIMARY KEY)\(rest)").execute()
            try PreparedStatement(scratch, "INSERT INTO held DEFAULT VALUES").execute()
        }
        // A declared default may be a bare word, which is a text, or an expression in parentheses; SQLite reports both without
        // the difference.
        let table = [literal, "(\(literal))"].lazy.compactMap { definition in
            let column = "value \(declared) DEFAULT \(definition)"
            return try? PreparedStatement(
                scratch, isAdded ? "ALTER TABLE held ADD COLUMN \(column)" : "CREATE TABLE held(\(column))\(rest)")
        }.first
        guard let table, (try? table.execute()) != nil else { return .null }
        if !isAdded {
            guard let insert = try? PreparedStatement(scratch, "INSERT INTO held DEFAULT VALUES") else { return .null }
            do {
                try insert.execute()
            } catch let error as StorageError where isStrict && error.code == .conflict {
                return .null
            }
        }
        let select = try PreparedStatement(scratch, "SELECT value FROM held")
        return try select.step() ? select.row.value(at: 0) : .null
    }

    private func scratch() throws -> Connection {
        if let database { return database }
        let opened = try Connection.inMemory()
        database = opened
        return opened
    }
}
