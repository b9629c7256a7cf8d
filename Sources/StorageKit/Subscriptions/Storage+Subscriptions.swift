internal import StorageCore
internal import StorageLog
public import StorageViews

extension Storage {
    /// Waits until all live views show everything up to a commit, also those whose first value is still being read.
    ///
    /// ```swift
    /// let receipt = try await storage.save(user)
    /// await storage.waitForViews(through: receipt)
    /// #expect(users.items.contains(user))
    /// ```
    ///
    /// Views reach that state by themselves; use this in tests, and in code that must not show an older state.
    @MainActor public func waitForViews(through receipt: CommitReceipt) async {
        // The commit is durable, so the state that is read now includes it.
        await catchUpViews()
    }

    /// Waits until all live views show everything up to a position: of a commit of this process or, if this one only reads, of the writing process.
    ///
    /// ```swift
    /// // The writer has sent the position of its receipt.
    /// try await reader.waitForViews(throughPosition: position)
    /// ```
    ///
    /// - Throws: `StorageError`, for example with `closed`; `CancellationError` if the task is cancelled before the position was reached.
    @MainActor public func waitForViews(throughPosition position: Int64) async throws {
        // Created before the position is read, so that no commit is missed.
        var bell = engine.commitBell().makeAsyncIterator()
        while try await engine.read({ try LogHead.load($0).position }) < position {
            guard await bell.next() != nil else {
                try Task.checkCancellation()
                throw StorageError.closed()
            }
        }
        await catchUpViews()
    }

    @MainActor private func catchUpViews() async {
        await subscriptions.deliveryQueue.waitForOpenings()
        await subscriptions.catchUp(isUrgent: true)
        subscriptions.deliveryQueue.drain()
    }

    /// The work that the store has done to keep its live views up to date. Reading it waits for updates in progress.
    public var subscriptionWork: SubscriptionWork {
        get async { SubscriptionWork(await subscriptions.counters) }
    }
}
