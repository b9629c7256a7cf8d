package import GRDB
internal import StorageCore

/// The end of the log.
package struct LogHead: Sendable, Equatable {
    package var position: Int64 = 0
    package var commit: Int64 = 0
    package var time: Int64 = 0

    package init(position: Int64 = 0, commit: Int64 = 0, time: Int64 = 0) {
        self.position = position
        self.commit = commit
        self.time = time
    }

    private static let select = "SELECT last, last_commit, last_time FROM storage_log ORDER BY position DESC LIMIT 1"

    /// Loads the head through GRDB's connection, with a cached statement.
    package static func load(_ database: GRDB.Database) throws -> LogHead {
        try database.withKept(select) { rows in
            guard try rows.next() else { return LogHead() }
            return try LogHead(
                position: rows.row.integer(at: 0), commit: rows.row.integer(at: 1), time: rows.row.integer(at: 2)
            ).checked()
        }
    }

    package static func load(_ database: Connection) throws -> LogHead {
        let select = try PreparedStatement(database, select)
        guard try select.step() else { return LogHead() }
        return try LogHead(position: select.integer(0), commit: select.integer(1), time: select.integer(2)).checked()
    }

    /// Returns the head if its numbers are valid: counting on from them doesn't overflow.
    private func checked() throws -> LogHead {
        guard Limits.numbers.contains(position), Limits.numbers.contains(commit), commit <= position,
            Limits.times.contains(time)
        else { throw StorageError.corruptLog("the numbers of its last row make no sense") }
        return self
    }
}
