public import StorageLog
public import StorageMaintenance
public import StorageProjections

extension Storage {
    /// The projections that this program has declared: their status, and operations on them.
    public var projections: Projections { Projections(runtime: runtime) }

    /// Waits until asynchronous projections have applied a commit, so that reads of their tables see it.
    ///
    /// ```swift
    /// let receipt = try await storage.save(order)
    /// try await storage.waitForProjections(through: receipt)
    /// ```
    ///
    /// Inline projections and full-text indexes need no waiting: each commit updates them itself.
    ///
    /// - Parameter names: The projections to wait for; all if none is named.
    /// - Throws: ``StorageError`` with `projection-failed` if one of them is stalled before the commit and would never reach
    ///   it; `CancellationError` if the task is cancelled.
    public func waitForProjections(through receipt: CommitReceipt, of names: String...) async throws {
        try await runtime.wait(for: names, through: receipt.position)
    }
}

/// Operations on the projections of an open store.
///
/// ```swift
/// for projection in try await storage.projections.status() {
///     print(projection.name, projection.state, projection.lag)
/// }
/// ```
///
/// Calls with a name throw `not-found` for a projection that this program doesn't declare.
public struct Projections: Sendable {
    let runtime: ProjectionRuntime

    /// Returns the status of every projection of the store, including full-text indexes and projections that this program doesn't declare.
    ///
    /// - Throws: ``StorageError`` with `closed`.
    public func status() async throws -> [ProjectionStatus] { try await runtime.status() }

    /// Pauses a projection until it is resumed, even across restarts. Meanwhile, commits don't update it, even if it is inline.
    ///
    /// ```swift
    /// try await storage.projections.pause("order_totals")
    /// ```
    ///
    /// - Throws: ``StorageError`` with `not-found` for a projection that this program doesn't declare; also as
    ///   ``Storage`` says.
    public func pause(_ name: String) async throws { try await runtime.pause(name) }

    /// Resumes a paused or stalled projection. If it is inline, it has caught up when the call returns.
    ///
    /// ```swift
    /// try await storage.projections.resume("order_totals")
    /// ```
    ///
    /// - Throws: `projection-failed` if an inline one can't be caught up.
    public func resume(_ name: String) async throws { try await runtime.resume(name) }

    /// Empties a projection, drops its dead letters, and applies the whole history again. An inline projection is done when the
    /// call returns; an async one continues in the background, batch by batch, visible to readers. A stalled one is resumed.
    ///
    /// - Throws: ``StorageError`` with `not-found` for a projection that this program doesn't declare; also as
    ///   ``Storage`` says.
    public func reset(_ name: String) async throws { try await runtime.reset(name) }

    /// Rebuilds a projection from the log, in a temporary database beside the store while commits continue; its tables
    /// are then swapped in one transaction. Several can be rebuilt at the same time.
    ///
    /// ```swift
    /// let report = try await storage.projections.rebuild(
    ///     "order_totals", options: RebuildOptions(compares: true, swaps: false))
    /// for difference in report.differences { print(difference) }
    /// ```
    ///
    /// A projection is rebuilt entirely in that transaction if it has virtual tables, `AUTOINCREMENT` or dead letters, or reads
    /// tables of others: commits wait then, and cancelling the task has no effect any more.
    ///
    /// A stalled projection is resumed afterwards, and its dead letters are retried with the rest.
    ///
    /// If the task is cancelled or the process dies, the next rebuild by the same build of the program continues the work,
    /// which is kept in a file beside the store. A projection that is rebuilt in the store starts over.
    ///
    /// - Parameters:
    ///   - options: Whether to compare the new tables with the old ones (except virtual tables), whether to swap them
    ///     in, and whether to keep the old ones.
    ///   - progress: Called with the progress, on any thread.
    /// - Throws: `projection-failed` if the projection throws and its policy for history is to pause; the old tables stay then,
    ///   as they do if the task is cancelled. When comparing, also the reason why the projection can't be built in a separate
    ///   database.
    @discardableResult
    public func rebuild(
        _ name: String, options: RebuildOptions = RebuildOptions(),
        progress: @escaping @Sendable (RebuildProgress) -> Void = { _ in }
    ) async throws -> RebuildReport {
        try await runtime.rebuild(name, options: options, progress: progress)
    }

    /// Returns the dead letters of a projection, or of all projections if none is named, in the order of the log.
    ///
    /// ```swift
    /// for letter in try await storage.projections.deadLetters("order_totals") {
    ///     print(letter.position, letter.event.table, letter.error)
    /// }
    /// ```
    ///
    /// - Throws: ``StorageError`` with `not-found` for a projection that this program doesn't declare; also as
    ///   ``Storage`` says.
    public func deadLetters(_ name: String? = nil) async throws -> [DeadLetter] { try await runtime.deadLetters(name) }

    /// Tries a projection's dead letters again, in the order of the log.
    ///
    /// ```swift
    /// let applied = try await storage.projections.replayDeadLetters("order_totals")
    /// let left = try await storage.projections.deadLetters("order_totals").count
    /// ```
    ///
    /// - Returns: The number of dead letters that were applied; the others stay.
    /// - Throws: ``StorageError`` with `not-found` for a projection that this program doesn't declare; also as
    ///   ``Storage`` says.
    @discardableResult
    public func replayDeadLetters(_ name: String) async throws -> Int { try await runtime.replayDeadLetters(name) }
}
