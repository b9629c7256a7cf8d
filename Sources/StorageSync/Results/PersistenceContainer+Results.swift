public import StorageKit
public import StorageViews

extension PersistenceContainer {
    /// The rows of a source, live, and kept as fresh as its policy says for as long as somebody holds the result. All results of the
    /// same source and parameter share one state, and one request at a time, which is made with the remote of whoever asks.
    ///
    /// - Parameter start: Whether the first value is there when this returns, which reads on the main actor.
    @MainActor
    public func results<Element>(
        of source: QuerySource<Element>, start: SubscriptionStart = .immediate
    ) -> QueryResults<Element> {
        QueryResults(source, in: self, start: start)
    }

    /// The rows of a source once, as its policy says: after the remote has answered where that is to be waited for.
    ///
    /// - Throws: ``StorageError`` where there are none to show: the store can't be read, or the remote failed and the policy shows
    ///   only its rows.
    @MainActor
    public func fetch<Element>(_ source: QuerySource<Element>) async throws -> [Element] {
        let results = results(of: source, start: .background)
        await results.firstAnswer()
        if let error = results.obstacle { throw error }
        return results.items
    }

    /// Fetches a source now, whatever its age.
    ///
    /// - Throws: ``StorageError`` where the remote failed or the rows couldn't be stored.
    @MainActor
    public func refresh<Element>(_ source: QuerySource<Element>) async throws {
        let use = SourceUse(source, in: storage)
        let refresher = refresher(of: source, for: use, start: .background).refresher
        await refresher.refresh(for: use)
        if let error = refresher.error { throw error }
    }

    /// Reports that requests have other credentials from now on. Sources that their remotes have refused
    /// (``QuerySourceStatus/isRefused``) are asked again: those that are shown at once, the others when somebody shows them.
    ///
    /// ```swift
    /// try await session.signIn()
    /// container.credentialsChanged()
    /// ```
    ///
    /// A refused source is also asked by `refresh()`, and once after each opening of the store, so once in each run of a program.
    @MainActor
    public func credentialsChanged() {
        storage.refreshes.credentials += 1
        for reference in storage.refreshes.refreshers.values {
            (reference.object as? SourceRefresher)?.credentialsChanged()
        }
    }

    /// The one that refreshes a source for all who show it, and whether nobody did before.
    @MainActor
    func refresher<Element>(
        of source: QuerySource<Element>, for use: SourceUse, start: SubscriptionStart
    ) -> (refresher: SourceRefresher, isNew: Bool) {
        let key = SourceKey(entity: ObjectIdentifier(Element.self), name: source.name, parameter: source.parameter)
        let refreshes = storage.refreshes
        if let refresher = refreshes.refreshers[key]?.object as? SourceRefresher { return (refresher, false) }
        refreshes.refreshers = refreshes.refreshers.filter { $0.value.object != nil }
        let refresher = SourceRefresher(source, for: use, key: key, in: self, start: start)
        refreshes.refreshers[key] = WeakReference(refresher)
        return (refresher, true)
    }
}

private struct SourceKey: Hashable {
    let entity: ObjectIdentifier
    let name: String
    let parameter: String
}
