internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog

/// A store whose file is attached to the connection of a temporary database, for reading, to copy whole tables into it.
///
/// Between tables of the same declaration in one connection, SQLite copies records and indexes as they are, with their
/// rowids (`xferOptimization` in <https://sqlite.org/src/file/src/insert.c>). Reading and inserting the rows one by one takes four
/// times as long, and more where keys come in random order. Where SQLite finds the declarations different, as it does with CHECK
/// constraints, it inserts row by row itself.
///
/// An attached file is read in a state of its own, which may be later than that of another connection. It is used only if both
/// have the same log and the same schema: then nothing was written to the store between them.
enum AttachedStore {
    /// The name of the store's schema.
    static let name = "storage_source"

    /// Copies a table of a store to an empty one of the same name and declaration, inside a transaction.
    ///
    /// The store stays attached: see ``detach(from:)``.
    ///
    /// - Parameter source: A connection of the store, which reads the wanted state.
    /// - Returns: Whether it was possible; if not, nothing was copied.
    static func copy(_ table: String, from source: Connection, to target: Connection) throws -> Bool {
        guard attach(source, to: target), let found = try? state(of: target, in: name),
            try found == state(of: source, in: "main"),
            // A table with a generated column can't be copied this way.
            let copy = try? PreparedStatement(
                target, "INSERT OR ABORT INTO main.\(quoted(table)) SELECT * FROM \(name).\(quoted(table))")
        else { return false }
        try copy.execute()
        return true
    }

    /// Detaches a store that may be attached, after the transaction that read it.
    static func detach(from target: Connection) {
        // It fails if none is attached.
        try? target.execute("DETACH \(name)")
    }

    /// - Returns: Whether it was possible: not if the store is in memory, or if SQLite doesn't support URIs, which open a file
    ///   for reading only.
    static func attach(_ source: Connection, to target: Connection) -> Bool {
        guard sqlite3_compileoption_used("USE_URI") != 0, !source.fileHasMoved, let path = source.path,
            let encoded = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed),
            let attach = try? PreparedStatement(target, "ATTACH ?1 AS \(name)")
        else { return false }
        attach.bind(text: "file://\(encoded)?mode=ro", at: 1)
        return (try? target.allowingAttachment { try attach.execute() }) != nil
    }

    /// The version of the schema and the end of the log. Reading them begins the read of the file.
    private static func state(of database: Connection, in schema: String) throws -> [Int64] {
        let last = try PreparedStatement(
            database, "SELECT last FROM \(schema).storage_log ORDER BY position DESC LIMIT 1")
        return try [schemaVersion(of: database, in: schema), last.step() ? last.integer(0) : 0]
    }

    /// The version of the schema, which every change of it raises.
    static func schemaVersion(of database: Connection, in schema: String) throws -> Int64 {
        let select = try PreparedStatement(database, "PRAGMA \(schema).schema_version")
        return try select.step() ? select.integer(0) : 0
    }
}
