public import Foundation
public import Observation
public import StorageCore
internal import StorageEntities
public import StorageKit
internal import StorageViews

/// The rows of a query source, live: they follow the store, and the store follows the source's remote.
///
/// ```swift
/// let tasks = container.results(of: sources.all)
/// print(tasks.items, tasks.isStale)
/// await tasks.refresh()
/// ```
///
/// A failing remote never takes rows away: they stay, ``error`` says why they are old, and the remote is asked again by itself,
/// unless it has refused the source.
@MainActor @Observable
public final class QueryResults<Element: RegisteredEntity> {
    /// What is shown; nil where there is no source or no store.
    fileprivate let live: Live?
    private let failure: StorageError?

    fileprivate struct Live {
        let rows: QuerySubscription<Element>
        let refresher: SourceRefresher
        /// The policy and the remote of this one.
        let use: SourceUse
        /// What was decided for this one; nil where the source was opened with it, and ``SourceRefresher/opening`` says it.
        let plan: RefreshPlan?
        /// How many requests had ended before, and how many of them with rows.
        let earlierAnswers: Int
        let earlierFetches: Int
    }

    init(_ source: QuerySource<Element>, in container: PersistenceContainer, start: SubscriptionStart) {
        var query = container.storage.query(Element.self)
        query.request = source.request
        let rows = QuerySubscription(query, start: start)
        let use = SourceUse(source, in: container.storage)
        let (refresher, isNew) = container.refresher(of: source, for: use, start: start)
        let (answers, fetches) = (refresher.answerCount, refresher.fetchCount)
        live = Live(
            rows: rows, refresher: refresher, use: use, plan: isNew ? nil : refresher.reopen(for: use),
            earlierAnswers: answers, earlierFetches: fetches)
        failure = nil
    }

    /// The rows of a source that has to be found first. Where it can't be, or there is no container, there are none, and ``error``
    /// says why.
    public init(in container: PersistenceContainer?, _ resolve: () throws -> QuerySource<Element>) {
        do {
            let source = try resolve()
            guard let container else { throw StorageError.noContainer() }
            let results = QueryResults(source, in: container, start: .immediate)
            (live, failure) = (results.live, nil)
        } catch {
            (live, failure) = (nil, error.forSources)
        }
    }

    /// Whether there is no source, or no store.
    public var isMissing: Bool { live == nil }

    /// The rows, in the query's order; none while the policy waits for the remote.
    public var items: [Element] { live.map { $0.isShown ? $0.rows.items : [] } ?? [] }
    /// Whether the rows are being read, or a request is under way.
    public var isLoading: Bool {
        live.map { $0.refresher.isRefreshing || !$0.refresher.isOpened || $0.rows.isLoading } ?? false
    }
    /// Whether the rows are older than the policy allows; where it doesn't go by age, whether the remote has failed since they were
    /// fetched.
    public var isStale: Bool { live?.refresher.isStale ?? false }
    /// Why the rows are old, or can't be read, or what is missing; nil while all is well.
    public var error: StorageError? { failure ?? live?.rows.error ?? live?.refresher.error }
    /// When the rows were fetched last, also by an earlier run of the program; nil where they never were.
    public var lastRefreshTime: Date? { live?.refresher.status?.lastRefresh }
    /// All that is known of the source; nil until it was read.
    public var status: QuerySourceStatus? { live?.refresher.status }

    /// Asks the remote now, whatever the rows' age, and returns when it has answered. Where a request is under way already, waits for
    /// that one. What goes wrong is in ``error``.
    public func refresh() async {
        guard let live else { return }
        await live.refresher.refresh(for: live.use)
        if live.rows.error != nil { await live.rows.refresh() }
    }

    /// Returns when the rows were read, and no request is under way any more.
    public func waitUntilRefreshed() async {
        guard let live else { return }
        while !live.refresher.isOpened || live.refresher.isRefreshing { await live.refresher.answer() }
        if live.rows.isLoading { await live.rows.refresh() }
    }

    /// Returns when there is something to show, or nothing is waited for any more.
    func firstAnswer() async {
        guard let live else { return }
        while !live.isShown, !live.refresher.isOpened || live.refresher.isRefreshing { await live.refresher.answer() }
        if live.rows.isLoading { await live.rows.refresh() }
    }

    /// Why there are no rows to show: they can't be read, or the policy hides them, because the remote hasn't answered with others.
    var obstacle: StorageError? {
        guard let live else { return failure }
        return live.rows.error ?? (live.isShown ? nil : error)
    }
}

extension QueryResults.Live {
    /// Whether the policy lets the stored rows be shown by now.
    @MainActor var isShown: Bool {
        guard let plan = plan ?? refresher.opening else { return false }
        if plan.showsStored { return true }
        guard use.policy == .networkOnly else { return refresher.answerCount > earlierAnswers }
        return refresher.fetchCount > earlierFetches
    }
}

extension StorageError {
    fileprivate static func noContainer() -> StorageError {
        StorageError(
            .invalidArgument, "There is no store to query.",
            remedy: "Give the view a databaseContainer(_:), or run this inside withDatabaseContainer.")
    }
}
