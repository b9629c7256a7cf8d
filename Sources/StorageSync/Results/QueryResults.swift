public import Foundation
public import Observation
public import StorageCore
internal import StorageEntities
public import StorageKit
public import StorageViews

/// The live rows of a query source: they follow the store, and the store follows the source's remote.
///
/// ```swift
/// let tasks = container.results(of: sources.all)
/// await tasks.refresh()
/// print(tasks.items, tasks.isStale)
/// ```
///
/// A failing remote never removes rows: they stay, ``error`` explains why they are old, and the remote is retried
/// automatically unless it has refused the source.
@MainActor @Observable
public final class QueryResults<Element: RegisteredEntity> {
    /// The live rows; nil if there is no source or no store.
    fileprivate let live: Live?
    private let failure: StorageError?

    fileprivate struct Live {
        let rows: QuerySubscription<Element>
        let refresher: SourceRefreshSchedule
        /// The policy and remote of this result.
        let use: SourceUse
        /// The plan for this result; nil if this result has opened the source, and ``SourceRefreshSchedule/opening`` has the
        /// plan.
        let plan: RefreshPlan?
        /// The number of finished requests before, and of those that returned rows.
        let earlierAnswers: Int
        let earlierFetches: Int
    }

    init(_ source: QuerySource<Element>, in container: PersistenceContainer, start: SubscriptionStart) {
        var query = container.storage.query(Element.self)
        query.request = source.request
        let rows = QuerySubscription(query, start: start)
        let use = SourceUse(source, in: container.storage)
        // If the rows were read at once, so is the state of their source, without which they may not be shown.
        let (refresher, isNew) = container.refresher(of: source, for: use, isImmediate: !rows.isLoading)
        let (answers, fetches) = (refresher.answerCount, refresher.fetchCount)
        live = Live(
            rows: rows, refresher: refresher, use: use, plan: isNew ? nil : refresher.reopen(for: use),
            earlierAnswers: answers, earlierFetches: fetches)
        failure = nil
    }

    /// Creates the live rows of the source that a closure returns. If the closure throws, or there is no container,
    /// there are no rows, and ``error`` explains why.
    ///
    /// - Parameter start: Whether the stored rows are available when this returns.
    public init(
        in container: PersistenceContainer?, start: SubscriptionStart = .automatic,
        _ resolve: () throws -> QuerySource<Element>
    ) {
        do {
            let source = try resolve()
            guard let container else { throw StorageError.noContainer() }
            let results = QueryResults(source, in: container, start: start)
            (live, failure) = (results.live, nil)
        } catch {
            (live, failure) = (nil, error.forSources)
        }
    }

    /// Whether there is no source, or no store.
    public var isMissing: Bool { live == nil }

    /// The rows, in the query's order; empty while the policy waits for the remote.
    public var items: [Element] { live.map { $0.isShown ? $0.rows.items : [] } ?? [] }
    /// Whether the rows are being read, or a request is in flight.
    public var isLoading: Bool {
        live.map { $0.refresher.isRefreshing || !$0.refresher.isOpened || $0.rows.isLoading } ?? false
    }
    /// Whether the rows are older than the policy allows; if it ignores their age, whether the remote has failed since
    /// they were fetched.
    public var isStale: Bool { live?.refresher.isStale ?? false }
    /// Why the rows are old, missing or can't be read; nil if there is no problem.
    public var error: StorageError? { failure ?? live?.rows.error ?? live?.refresher.error }
    /// When the rows were last fetched, possibly by an earlier run of the program; nil if they never were.
    public var lastRefreshTime: Date? { live?.refresher.status?.lastRefresh }
    /// The state of the source; nil until it has been read.
    public var status: QuerySourceStatus? { live?.refresher.status }

    /// Fetches from the remote now, whatever the rows' age, and returns when it has answered. If a request is already
    /// in flight, waits for that one. Failures are reported by ``error``.
    public func refresh() async {
        guard let live else { return }
        await live.refresher.refresh(for: live.use)
        // Without a remote there is no request, and the source's state may still be being read.
        if !live.refresher.isOpened { await live.refresher.answer() }
        if live.rows.isLoading || live.rows.error != nil { await live.rows.refresh() }
    }

    /// Waits until the rows have been read and no request is in flight.
    public func waitUntilRefreshed() async {
        guard let live else { return }
        while !live.refresher.isOpened || live.refresher.isRefreshing { await live.refresher.answer() }
        if live.rows.isLoading { await live.rows.refresh() }
    }

    /// Returns when there is something to show, or nothing left to wait for.
    func firstAnswer() async {
        guard let live else { return }
        while !live.isShown, !live.refresher.isOpened || live.refresher.isRefreshing { await live.refresher.answer() }
        if live.rows.isLoading { await live.rows.refresh() }
    }

    /// Why there are no rows to show: they can't be read, or the policy hides them until the remote has answered.
    var obstacle: StorageError? {
        guard let live else { return failure }
        return live.rows.error ?? (live.isShown ? nil : error)
    }
}

extension QueryResults.Live {
    /// Whether the policy allows showing the stored rows yet.
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
