public import StorageKit
public import StorageViews

extension PersistenceContainer {
    /// Returns the live rows of a source, refreshed according to its policy for as long as the result is held.
    ///
    /// All results of the same source and parameter share their state and run one request at a time, with the caller's
    /// remote.
    ///
    /// - Parameter start: Whether the stored rows are available when this returns.
    @MainActor
    public func results<Element>(
        of source: QuerySource<Element>, start: SubscriptionStart = .automatic
    ) -> QueryResults<Element> {
        QueryResults(source, in: self, start: start)
    }

    /// Returns the rows of a source once, according to its policy: after the remote's answer if the policy requires it.
    ///
    /// - Throws: ``StorageError`` if there are no rows to show: the store can't be read, or the remote failed and the
    ///   policy shows only its rows.
    @MainActor
    public func fetch<Element>(_ source: QuerySource<Element>) async throws -> [Element] {
        let results = results(of: source, start: .background)
        await results.firstAnswer()
        if let error = results.obstacle { throw error }
        return results.items
    }

    /// Fetches a source now, whatever the age of its rows.
    ///
    /// - Throws: ``StorageError`` if the remote failed or the rows couldn't be stored.
    @MainActor
    public func refresh<Element>(_ source: QuerySource<Element>) async throws {
        let use = SourceUse(source, in: storage)
        let refresher = refresher(of: source, for: use, isImmediate: false).refresher
        await refresher.refresh(for: use)
        if let error = refresher.error { throw error }
    }

    /// Reports that the credentials of requests have changed. Sources that their remotes have refused
    /// (``QuerySourceStatus/isRefused``) are fetched again: at once if they are shown, otherwise when they are next
    /// shown.
    ///
    /// ```swift
    /// try await session.signIn()
    /// container.credentialsChanged()
    /// ```
    ///
    /// A refused source is also fetched by `refresh()`, and once each time the store is opened, so once in each run of
    /// a program.
    @MainActor
    public func credentialsChanged() {
        storage.refreshes.credentials += 1
        for reference in storage.refreshes.refreshers.values {
            (reference.object as? SourceRefreshSchedule)?.credentialsChanged()
        }
    }

    /// The shared refresher of a source, and whether it was created by this call.
    ///
    /// - Parameter isImmediate: Whether the source's state is read before this returns.
    @MainActor
    func refresher<Element>(
        of source: QuerySource<Element>, for use: SourceUse, isImmediate: Bool
    ) -> (refresher: SourceRefreshSchedule, isNew: Bool) {
        let key = SourceKey(entity: ObjectIdentifier(Element.self), name: source.name, parameter: source.parameter)
        let refreshes = storage.refreshes
        if let refresher = refreshes.refreshers[key]?.object as? SourceRefreshSchedule {
            if isImmediate { refresher.openNow(source) }
            return (refresher, false)
        }
        refreshes.refreshers = refreshes.refreshers.filter { $0.value.object != nil }
        let refresher = SourceRefreshSchedule(source, for: use, key: key, in: self, isImmediate: isImmediate)
        refreshes.refreshers[key] = WeakReference(refresher)
        return (refresher, true)
    }
}

private struct SourceKey: Hashable {
    let entity: ObjectIdentifier
    let name: String
    let parameter: String
}
