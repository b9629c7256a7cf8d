internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageRecords

/// The guard of a connection that reads: later reads use the same one, so a read must leave it as it is.
///
/// `query_only` refuses temporary objects, which would hide the store's tables, and a read that changes that setting or another
/// one is refused at its end. SQLite prepares every statement again after a change of a setting or the temporary schema, and when a
/// collation, or a function with the same number of arguments, is defined another way. So a read that has changed nothing costs one
/// step of a statement that reads nothing, before and after its body.
///
/// A redefined function or collation of SQLite can't be restored, except LIKE, so the connection isn't used again; in memory there is
/// no other one, and the read is refused. Not detected: functions with a number of arguments for which SQLite lists none of its own
/// (`max` with two), and the user's own functions, which each read may define.
///
/// Not `Sendable`: it belongs to one read.
struct ReadGuard {
    /// Settings that change what statements find, with their values while a read runs.
    private static let settings = [
        ("query_only", "1"), ("reverse_unordered_selects", "0"), ("full_column_names", "0"),
        ("short_column_names", "1"), ("writable_schema", "0"), ("cell_size_check", "1"),
    ]

    /// What a read has left of its connection.
    struct Outcome {
        /// SQLite's functions and collations that are defined another way, such as `function upper`, also by an earlier read.
        var redefinitions: [String] = []
        /// Why the read is refused: the settings are restored; temporary objects of the read are still there.
        var refusal: StorageError?

        /// Whether later reads find what they found before.
        var isUnchanged: Bool { redefinitions.isEmpty && refusal == nil }
    }

    /// Makes a new connection one that only reads.
    static func prepare(_ connection: Connection) throws {
        try connection.execute(settings.map { "PRAGMA \($0) = \($1)" }.joined(separator: "; "))
    }

    private let connection: Connection
    /// Kept from before the body, which may make GRDB forget its statements.
    private let probe: GRDB.Statement

    /// - Parameter database: A connection that is reading.
    init(_ database: GRDB.Database) throws {
        connection = try database.connection
        probe = try database.cachedStatement(sql: "SELECT 1 AS is_unchanged")
        _ = mayHaveChanged()
    }

    /// Whether something may have changed the connection since the last call.
    private func mayHaveChanged() -> Bool {
        let statement = probe.sqliteStatement
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        return sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 1) > 0 || code != SQLITE_ROW
    }

    /// Finds what the read has changed, and restores the settings and LIKE.
    func finish() throws -> Outcome {
        guard mayHaveChanged() else { return Outcome() }
        var outcome = Outcome()
        let object = try hidingObject()
        let setting = try restoreSettings()
        if let object {
            // It may hide the list of functions, too.
            outcome.refusal = StorageError(
                .invalidArgument,
                "The temporary \(object) would hide the table of that name from every later read.",
                remedy: "Give it another name, or use a common table expression (WITH).")
            return outcome
        }
        if let setting {
            outcome.refusal = StorageError(
                .invalidArgument,
                "A read changes the setting \(setting) of its connection, which would affect every later read.",
                remedy: "Leave the connection as it is; open one of your own for other settings.")
        }
        let functions = try redefinedFunctions()
        // The setting defines LIKE, which stays in that list.
        if functions.contains("like") { try connection.execute("PRAGMA case_sensitive_like = 0") }
        outcome.redefinitions = functions.map { "function \($0)" }
        outcome.redefinitions += try redefinedCollations().map { "collation \($0)" }
        return outcome
    }

    /// SQLite's own functions that were given another definition, in which `case_sensitive_like` also results for LIKE.
    /// The statement calls none.
    private func redefinedFunctions() throws -> [String] {
        let select = try PreparedStatement(
            connection,
            """
            SELECT DISTINCT own.name
            FROM temp.pragma_function_list AS made CROSS JOIN temp.pragma_function_list AS own
            WHERE made.builtin = 0 AND own.builtin = 1 AND own.name = made.name AND own.narg = made.narg
            """)
        var functions: [String] = []
        while try select.step() { functions.append(select.string(0)) }
        return functions
    }

    /// SQLite's collations that don't compare as its own do.
    private func redefinedCollations() throws -> [String] {
        let select = try PreparedStatement(
            connection,
            """
            SELECT 'aB' = 'Ab' COLLATE NOCASE AND 'a' < 'B' COLLATE NOCASE AND 'C' > 'b' COLLATE NOCASE
                AND 'a' < 'a ' COLLATE NOCASE AND 'ä' > 'Ä' COLLATE NOCASE AND 'a2' > 'a10' COLLATE NOCASE,
              'a' = 'a ' COLLATE RTRIM AND 'a' > 'B' COLLATE RTRIM AND 'a' > ' a' COLLATE RTRIM,
              'a' > 'B' COLLATE BINARY AND 'a' <> 'A' COLLATE BINARY AND 'a' < 'a ' COLLATE BINARY
            """)
        let names = ["NOCASE", "RTRIM", "BINARY"]
        guard try select.step() else { return names }
        return names.indices.filter { select.integer(Int32($0)) != 1 }.map { names[$0] }
    }

    /// The type and the name of a temporary object that hides one of the store.
    private func hidingObject() throws -> String? {
        // To read its schema would open it.
        guard sqlite3_db_readonly(connection.handle, "temp") >= 0 else { return nil }
        let select = try PreparedStatement(
            connection,
            """
            SELECT type, name, EXISTS (SELECT 1 FROM main.sqlite_schema AS own WHERE own.name = made.name COLLATE NOCASE)
            FROM sqlite_temp_schema AS made WHERE type IN ('table', 'view')
            """)
        while try select.step() {
            let name = select.string(1)
            if select.integer(2) != 0 || ReservedNames.isBuiltIn(name) { return "\(select.string(0)) \"\(name)\"" }
        }
        return nil
    }

    /// - Returns: The first one that had changed.
    private func restoreSettings() throws -> String? {
        var changed: String?
        for (name, value) in Self.settings {
            let select = try PreparedStatement(connection, "PRAGMA \(name)")
            // An SQLite without the setting has no row.
            guard try select.step(), select.string(0) != value else { continue }
            select.reset()
            try connection.execute("PRAGMA \(name) = \(value)")
            changed = changed ?? name
        }
        let like = try PreparedStatement(connection, "SELECT 'a' LIKE 'A'")
        // One that a read has defined may throw.
        if (try? like.step()) != true || like.integer(0) == 0 {
            like.reset()
            try connection.execute("PRAGMA case_sensitive_like = 0")
            changed = changed ?? "case_sensitive_like"
        }
        return changed
    }
}

extension Connection {
    /// Runs `body`, which makes or drops temporary objects of the engine's own, on a connection that may be reading.
    package func allowingTemporaryObjects<Result>(_ body: () throws -> Result) throws -> Result {
        try with(setting: "query_only", false, body)
    }

    /// Runs `body` while one of SQLite's settings is on or off, and restores the setting.
    package func with<Result>(setting name: String, _ isOn: Bool, _ body: () throws -> Result) throws -> Result {
        let select = try PreparedStatement(self, "PRAGMA \(name)")
        let wasOn = try select.step() && select.integer(0) != 0
        select.reset()
        guard wasOn != isOn else { return try body() }
        try execute("PRAGMA \(name) = \(isOn ? 1 : 0)")
        // Fails only if the connection is lost, and then nothing follows.
        defer { try? execute("PRAGMA \(name) = \(wasOn ? 1 : 0)") }
        return try body()
    }
}

extension StorageError {
    /// - Parameter definitions: Such as `function upper`.
    static func redefined(_ definitions: [String], cause: (any Error)?) -> StorageError {
        StorageError(
            .invalidArgument,
            """
            A read has redefined SQLite's \(definitions.joined(separator: ", ")); in a store in memory, all later calls use \
            that definition.
            """,
            remedy: "Give your functions and collations other names, and begin with a new store.", cause: cause)
    }
}
