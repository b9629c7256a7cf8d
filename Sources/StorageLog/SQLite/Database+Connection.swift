package import GRDB
internal import StorageCore
package import StorageRecords

extension GRDB.Database {
    /// The SQLite connection beneath GRDB's.
    ///
    /// - Throws: `closed` if the connection was closed while its reader was on the way here.
    package var connection: Connection {
        get throws {
            guard let sqliteConnection else { throw StorageError.closed() }
            return Connection(sqliteConnection, owner: self)
        }
    }
}

extension GRDB.Database: ConnectionOwner {
    package func forgetCompiledStatements() {
        // GRDB forgets them when it begins to compile. A blank text has no statement that could fail.
        try? execute(sql: " ")
    }

    package func checkCancellation() throws {
        // The work runs outside of the task. GRDB knows of its cancellation, and then refuses every statement.
        try cachedStatement(sql: "SELECT 1").execute()
    }
}
