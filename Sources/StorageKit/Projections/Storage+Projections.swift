public import StorageLog
public import StorageMaintenance
public import StorageProjections

extension Storage {
    /// The projections that this program has declared: their status, and operations on them.
    public var projections: Projections { Projections(runtime: runtime) }

    /// Waits until the asynchronous projections have applied a commit, so that reads see it there.
    ///
    /// ```swift
    /// let receipt = try await storage.save(order)
    /// try await storage.waitForProjections(through: receipt)
    /// ```
    ///
    /// Inline projections and full-text indexes are up to date with the commit itself.
    ///
    /// - Parameter names: The projections to wait for; all if none is named.
    /// - Throws: ``StorageError`` with `projection-failed` if one of them is stalled before the commit and would never reach it; `CancellationError`
    ///   if the task is cancelled.
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

    /// Pauses a projection until it is resumed, also across restarts. Meanwhile commits don't run a paused inline projection.
    ///
    /// - Throws: ``StorageError`` with `not-found` for a projection that this program doesn't declare; also as
    ///   ``Storage`` says.
    public func pause(_ name: String) async throws { try await runtime.pause(name) }

    /// Resumes a paused or stalled projection. An inline one has caught up when this returns.
    ///
    /// - Throws: `projection-failed` if an inline one can't be caught up.
    public func resume(_ name: String) async throws { try await runtime.resume(name) }

    /// Empties a projection, drops its dead letters, and applies the whole history again: an inline one before this
    /// returns, an async one in the background, batch by batch and visible to readers. A stalled one is resumed.
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
    /// A projection with virtual tables, with `AUTOINCREMENT`, with dead letters, or one that reads tables of others, is rebuilt entirely in that
    /// transaction: commits wait, and cancelling the task has no effect any more.
    ///
    /// A stalled one is resumed afterwards, and its dead letters are retried with the rest.
    ///
    /// A rebuild whose task is cancelled, or whose process dies, is resumed by the next one of the same build of the
    /// program; its tables are in a file beside the store until then. One that is rebuilt in the store starts over.
    ///
    /// - Parameters:
    ///   - options: Whether the new tables are compared with the old ones (except virtual tables), whether they replace them, and whether the old
    ///     ones are kept.
    ///   - progress: Called with the progress, on any thread.
    /// - Throws: `projection-failed` if the projection throws and its policy for history is to pause; the old tables stay then, as they do if the
    ///   task is cancelled. When comparing, also the reason why the projection can't be built in a separate database.
    @discardableResult
    public func rebuild(
        _ name: String, options: RebuildOptions = RebuildOptions(),
        progress: @escaping @Sendable (RebuildProgress) -> Void = { _ in }
    ) async throws -> RebuildReport {
        try await runtime.rebuild(name, options: options, progress: progress)
    }

    /// Returns the dead letters of a projection, in the order of the log; those of all projections if none is named.
    ///
    /// - Throws: ``StorageError`` with `not-found` for a projection that this program doesn't declare; also as
    ///   ``Storage`` says.
    public func deadLetters(_ name: String? = nil) async throws -> [DeadLetter] { try await runtime.deadLetters(name) }

    /// Tries a projection's dead letters again, in the order of the log.
    ///
    /// - Returns: The number of dead letters that were applied; the others stay.
    /// - Throws: ``StorageError`` with `not-found` for a projection that this program doesn't declare; also as
    ///   ``Storage`` says.
    @discardableResult
    public func replayDeadLetters(_ name: String) async throws -> Int { try await runtime.replayDeadLetters(name) }
}
