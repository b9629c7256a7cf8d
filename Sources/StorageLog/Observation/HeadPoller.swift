internal import StorageCore

/// Detects whether any process has extended the log of a store, or advanced a projection.
///
/// It has a connection of its own, because `PRAGMA data_version` counts the commits of others since the same connection read it
/// last. That check is cheaper and comes first; the head of the log and the positions of projections decide, because checkpoints of
/// SQLite and maintenance change the version, too.
///
/// Not `Sendable`: it belongs to the thread that polls.
final class HeadPoller {
    private let file: DatabaseFile
    private let selectVersion: PreparedStatement
    private let selectHead: PreparedStatement
    private let selectProjected: PreparedStatement
    private var version: Int64?
    private var head: Int64?
    private var projected: Int64?

    init(store path: String) throws {
        file = try DatabaseFile(path, .reading)
        (selectVersion, selectHead, selectProjected) = try file.with { connection in
            (
                try PreparedStatement(connection, "PRAGMA data_version"),
                try PreparedStatement(connection, "SELECT last FROM storage_log ORDER BY position DESC LIMIT 1"),
                try PreparedStatement(
                    connection, "SELECT total(position) + total(microseconds) FROM storage_checkpoint")
            )
        }
    }

    /// Whether the log has grown, or a projection has advanced, since the last call. The first call returns true.
    func hasMoved() throws -> Bool {
        // Before the head: what is committed in between is seen by this call, and is no growth for the next.
        let version = try value(of: selectVersion)
        guard version != self.version else { return false }
        let (head, projected) = (try value(of: selectHead), try value(of: selectProjected))
        let hasMoved = head != self.head || projected != self.projected
        (self.version, self.head, self.projected) = (version, head, projected)
        return hasMoved
    }

    private func value(of statement: PreparedStatement) throws -> Int64 {
        // A statement that isn't reset keeps its read snapshot.
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
