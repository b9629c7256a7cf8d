internal import StorageLog
public import StorageViews

extension Storage {
    /// Waits until all live views show everything up to a commit.
    ///
    /// ```swift
    /// let receipt = try await storage.save(user)
    /// await storage.waitForViews(through: receipt)
    /// #expect(users.items.contains(user))
    /// ```
    ///
    /// Views come to that state by themselves; this is for tests, and for code that must not show an older one.
    @MainActor public func waitForViews(through receipt: CommitReceipt) async {
        // The commit is durable, so the state that is looked at now holds it.
        await subscriptions.catchUp(isUrgent: true)
        subscriptions.deliveryQueue.drain()
    }

    /// How busy the store is with keeping its live views up to date. Waits for updates in progress.
    public var subscriptionWork: SubscriptionWork {
        get async { SubscriptionWork(await subscriptions.counters) }
    }
}
