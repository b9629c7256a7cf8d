internal import StorageCore

extension StorageEngine {
    /// Records what was done, in a commit of its own.
    ///
    /// No row of users changes, so undo passes over it, and it isn't what `head~1` counts; see
    /// ``CatalogEntity/isAnnotation(_:)``.
    @discardableResult
    package func record(_ operation: StorageOperation, metadata: CommitMetadata) async throws -> CommitReceipt {
        try await commit(metadata) { writer, _ in try writer.enter(operation) }
    }
}

extension LogWriter {
    /// Records what was done, in a commit of its own inside the group under way.
    ///
    /// - Parameter time: The commit's; nil for the present. An import gives the time of the last commit that it made: with
    ///   the present one every older commit of a history that is imported later would get that time, because times in
    ///   the log never go back. The row's column `at` has the real time.
    @discardableResult
    package func record(
        _ operation: StorageOperation, metadata: CommitMetadata, at time: Int64? = nil
    ) throws -> CommitReceipt {
        try commit(metadata, at: time) { try enter(operation) }
    }

    /// Records what was done as a part of the commit under way.
    ///
    /// The row's key is the position of its own event, so no two ever have the same.
    package func enter(_ operation: StorageOperation) throws {
        try run(
            """
            INSERT INTO storage_operation(id, command, subject, outcome, at, _position)
            VALUES (?1, ?2, ?3, ?4, strftime('%Y-%m-%dT%H:%M:%SZ', ?5, 'unixepoch'), ?1)
            """,
            .integer(nextPosition), .text(operation.command), operation.subject.map { .text($0) } ?? .null,
            .text(operation.outcome), .integer(configuration.clock.microseconds / 1_000_000))
    }
}
