internal import GRDB
internal import StorageCore
internal import StorageLog
public import StorageMaintenance

extension Storage {
    /// Checks the whole store against its log. Every byte of the store is read once.
    ///
    /// ```swift
    /// let report = try await storage.verify()
    /// for finding in report.findings { print(finding.message) }
    /// ```
    ///
    /// - Returns: The findings. Damage is a finding, not an error; commits lost in a power failure under `normal` durability
    ///   are a warning.
    ///
    /// - Parameter progress: Called on the reading thread with the number of events read and their total.
    /// - Throws: ``StorageError`` with `io-error` if the file can't be read, `closed` if the store is closed.
    public func verify(
        progress: @escaping @Sendable (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
    ) async throws -> VerifyReport {
        let end = engine.acknowledgedEnd()
        return try await engine.readLong { db in
            let connection = try db.connection
            var verifier = Verifier(connection, end: end, progress: progress)
            return try verifier.run()
        }
    }

    /// Rebuilds entity tables from the log, together with their full-text indexes and inline projections.
    ///
    /// The new tables are made beside the old ones while reads and writes continue. Once they have caught up with the log, they
    /// replace the old ones in one transaction, so an interrupted rebuild leaves either the old table or the new one. Commits
    /// wait only for that last step, in which indexes are created, including full-text indexes.
    ///
    /// ```swift
    /// let report = try await storage.rebuild("users", options: RebuildOptions(compares: true)) { progress in
    ///     print(progress.fraction)
    /// }
    /// for difference in report.differences { print(difference) }
    /// ```
    ///
    /// If the task is cancelled or the process dies, the next rebuild continues the work; ``abandonRebuild()`` discards it. The first
    /// 33,554,432 events of rows with many versions are the exception: their rows are sorted first, in a temporary file, and an
    /// interruption before all of them are written starts that over. Rebuilds of a store run one after another.
    ///
    /// - Parameters:
    ///   - entities: The entities whose tables are rebuilt; if none is named, all, including the store's own.
    ///   - options: Whether to compare the old tables with the new ones, and whether to keep the old ones.
    ///   - progress: Called many times a second, on any thread.
    /// - Throws: `not-found` for an entity that doesn't exist; `corrupt` if tables are compared and another program has removed a
    ///   column of one; `CancellationError`.
    @discardableResult
    public func rebuild(
        _ entities: String..., options: RebuildOptions = RebuildOptions(),
        progress: @escaping @Sendable (RebuildProgress) -> Void = { _ in }
    ) async throws -> RebuildReport {
        try await Rebuild(engine, entities, options: options, progress: progress).run()
    }

    /// Discards the work of interrupted rebuilds of entities and projections, and the old tables that rebuilds have kept.
    ///
    /// ```swift
    /// try await storage.abandonRebuild()
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    public func abandonRebuild() async throws { try await Rebuild.abandon(engine) }

    /// Seals the log's tail now instead of in the background.
    ///
    /// ```swift
    /// try await storage.seal()
    /// let backup = try await storage.backup(to: folder.appending(path: "sealed.sqlite"))
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    public func seal() async throws { try await engine.seal() }
}
