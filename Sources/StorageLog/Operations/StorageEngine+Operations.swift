internal import StorageCore

extension StorageEngine {
    /// Records an operation in a commit of its own.
    ///
    /// It changes no row of users, so undo skips it and `head~1` doesn't count it; see ``CatalogEntity/isAnnotation(_:)``.
    @discardableResult
    package func record(_ operation: StorageOperation, metadata: CommitMetadata) async throws -> CommitReceipt {
        try await commit(metadata) { writer, _ in try writer.enter(operation) }
    }
}

extension LogWriter {
    /// Records an operation in a commit of its own inside the current group.
    ///
    /// - Parameter time: The commit's time; nil for the present. An import passes the time of its last commit: with the present
    ///   time, every older commit of a history imported later would get that time, because times in the log never decrease. The
    ///   row's column `at` has the real time.
    @discardableResult
    package func record(
        _ operation: StorageOperation, metadata: CommitMetadata, at time: Int64? = nil
    ) throws -> CommitReceipt {
        try commit(metadata, at: time) { try enter(operation) }
    }

    /// Records an operation as a part of the current commit.
    ///
    /// The row's key is the position of its own event, so it is unique.
    package func enter(_ operation: StorageOperation) throws {
        try annotate(
            """
            INSERT INTO storage_operation(id, command, subject, outcome, at, _position)
            VALUES (?1, ?2, ?3, ?4, strftime('%Y-%m-%dT%H:%M:%SZ', ?5, 'unixepoch'), ?1)
            """,
            .integer(nextPosition), .text(operation.command), operation.subject.map { .text($0) } ?? .null,
            .text(operation.outcome), .integer(configuration.clock.microseconds / 1_000_000))
    }
}
