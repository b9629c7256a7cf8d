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
/// An attached file has a state of its own, which may be later than the one that another connection reads. It serves only where both
/// have the same log and the same schema: then nothing that the store has written lies between them.
enum AttachedStore {
    private static let name = "storage_source"

    /// Copies a table of a store into an empty one of the same name and declaration, inside of a transaction.
    ///
    /// The store stays attached: see ``detach(from:)``.
    ///
    /// - Parameter source: A connection of the store, which reads the state that is wanted.
    /// - Returns: Whether it could; nothing was copied where not.
    static func copy(_ table: String, from source: Connection, to target: Connection) throws -> Bool {
        guard attach(source, to: target), let found = try? state(of: target, "\(name)."),
            try found == state(of: source, "main."),
            // A generated column can't be inserted into.
            let copy = try? PreparedStatement(
                target, "INSERT OR ABORT INTO main.\(quoted(table)) SELECT * FROM \(name).\(quoted(table))")
        else { return false }
        try copy.execute()
        return true
    }

    /// Detaches a store that may be attached, after the transaction that read it.
    static func detach(from target: Connection) {
        // It fails where none is attached.
        try? target.execute("DETACH \(name)")
    }

    /// - Returns: Whether it could: not where the store is in memory, or SQLite knows no URIs, by which a file is opened for
    ///   reading only.
    private static func attach(_ source: Connection, to target: Connection) -> Bool {
        guard sqlite3_compileoption_used("USE_URI") != 0, let path = source.path,
            let encoded = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed),
            let attach = try? PreparedStatement(target, "ATTACH ?1 AS \(name)")
        else { return false }
        attach.bind(text: "file://\(encoded)?mode=ro", at: 1)
        return (try? attach.execute()) != nil
    }

    /// The version of the schema and the end of the log. Reading them begins the read of the file.
    private static func state(of database: Connection, _ schema: String) throws -> [Int64] {
        try [
            "PRAGMA \(schema)schema_version", "SELECT last FROM \(schema)storage_log ORDER BY position DESC LIMIT 1",
        ].map { sql in
            let select = try PreparedStatement(database, sql)
            return try select.step() ? select.integer(0) : 0
        }
    }
}
