internal import Foundation
internal import StorageCore
package import StorageLog

/// A projection's progress: its row of `storage_checkpoint`, which is written in the transaction that changes its
/// tables.
package struct Checkpoint: Sendable, Equatable {
    package var position: Int64 = 0
    /// Up to here history is only read again.
    package var replayed: Int64 = 0
    package var state = ProjectionStatus.State.running
    package var error: String?
    package var failed: Int64?
    package var events: Int64 = 0
    package var microseconds: Int64 = 0
    package var time: Int64?

    /// - Returns: Nil if the store has no projection of that name.
    /// - Throws: `corrupt` for numbers that no projection has left.
    package static func load(_ name: String, _ database: Connection) throws -> Checkpoint? {
        let select = try PreparedStatement(
            database,
            """
            SELECT position, replayed, state, error, failed, events, microseconds, time FROM storage_checkpoint
            WHERE projection = ?1
            """)
        select.bind(text: name, at: 1)
        guard try select.step() else { return nil }
        let row = select.row
        let checkpoint = Checkpoint(
            position: select.integer(0), replayed: select.integer(1),
            state: ProjectionStatus.State(rawValue: select.string(2)) ?? .failed,
            error: row.isNull(at: 3) ? nil : select.string(3), failed: row.isNull(at: 4) ? nil : select.integer(4),
            events: select.integer(5), microseconds: select.integer(6),
            time: row.isNull(at: 7) ? nil : select.integer(7))
        guard checkpoint.isPossible else {
            throw StorageError(
                .corrupt, "The checkpoint of the projection \"\(name)\" holds numbers that no projection has left.",
                remedy:
                    "See what else is damaged: storagekit verify. Restore a backup: storagekit restore BACKUP -o NEW")
        }
        return checkpoint
    }

    private var isPossible: Bool {
        [position, replayed, events, microseconds].allSatisfy { (0...Limits.numbers.upperBound).contains($0) }
            && failed.map(Limits.numbers.contains) ?? true && time.map(Limits.times.contains) ?? true
    }

    package func save(_ name: String, _ writer: LogWriter) throws {
        let insert = try writer.statement(
            """
            INSERT INTO storage_checkpoint(projection, position, replayed, state, error, failed, events, microseconds, time)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT(projection) DO UPDATE SET position = ?2, replayed = ?3, state = ?4, error = ?5, failed = ?6,
              events = ?7, microseconds = ?8, time = ?9
            """)
        insert.bind(text: name, at: 1)
        insert.bind(position, at: 2)
        insert.bind(replayed, at: 3)
        insert.bind(text: state.rawValue, at: 4)
        if let error { insert.bind(text: error, at: 5) } else { insert.bindNull(at: 5) }
        if let failed { insert.bind(failed, at: 6) } else { insert.bindNull(at: 6) }
        insert.bind(events, at: 7)
        insert.bind(microseconds, at: 8)
        if let time { insert.bind(time, at: 9) } else { insert.bindNull(at: 9) }
        try writer.asEngine { try insert.execute() }
    }
}
