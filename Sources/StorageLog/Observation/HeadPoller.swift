internal import StorageCore

/// Sees whether the log of a store has grown, by whatever process.
///
/// It has a connection of its own, because `PRAGMA data_version` counts the commits of others since the same connection
/// was asked before. That question is the cheaper one and is asked first; the head of the log is what counts, since
/// checkpoints and work without events move the version, too.
///
/// Not `Sendable`: it belongs to the thread that looks.
final class HeadPoller {
    private let file: DatabaseFile
    private let selectVersion: PreparedStatement
    private let selectHead: PreparedStatement
    private var version: Int64?
    private var head: Int64?

    init(store path: String) throws {
        file = try DatabaseFile(path, .reading)
        (selectVersion, selectHead) = try file.with { connection in
            (
                try PreparedStatement(connection, "PRAGMA data_version"),
                try PreparedStatement(connection, "SELECT last FROM storage_log ORDER BY position DESC LIMIT 1")
            )
        }
    }

    /// Whether the log has grown since the last call. The first call returns true.
    func hasMoved() throws -> Bool {
        // Before the head: what is committed in between is seen now, and found old the next time.
        let version = try value(of: selectVersion)
        guard version != self.version else { return false }
        let head = try value(of: selectHead)
        let hasMoved = head != self.head
        (self.version, self.head) = (version, head)
        return hasMoved
    }

    private func value(of statement: PreparedStatement) throws -> Int64 {
        // A statement that isn't reset holds on to the state that it has read.
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
