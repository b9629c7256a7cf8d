internal import Foundation
internal import Observation
internal import StorageCore
internal import StorageKit
internal import StorageViews
internal import Synchronization

/// Refreshes a source of a store for all its users: one request at a time, again when its rows become stale, with back-off after failures, and after
/// a refusal when something may have changed. It ends when its last user releases it, and the current request is cancelled.
///
/// Opening the source or asking for a refresh uses the caller's own remote, unless a request is in flight. Automatic
/// requests use the remote of the most recent remaining user.
///
/// Isolation: the main actor, for what views show; requests and merges run elsewhere.
@MainActor @Observable
final class SourceRefreshSchedule {
    private enum Phase {
        /// Idle until a user asks.
        case idle
        /// Waits until it is time to ask the remote.
        case waiting
        /// Asks the remote.
        case refreshing(Task<Void, Never>)
    }

    /// The source's state; nil until it was read.
    private(set) var status: QuerySourceStatus?
    /// Why the last refresh failed; nil after a success.
    private(set) var error: StorageError?
    private(set) var isRefreshing = false
    private(set) var isStale = false
    /// The number of finished requests, and of those that returned rows.
    private(set) var answerCount = 0
    private(set) var fetchCount = 0
    /// The plan for the first user; nil until the source's state was read.
    private(set) var opening: RefreshPlan?

    @ObservationIgnored private var phase = Phase.idle
    /// The users, in the order in which they began.
    @ObservationIgnored private var uses: [WeakReference]
    @ObservationIgnored private let container: PersistenceContainer
    @ObservationIgnored private let key: AnyHashable
    @ObservationIgnored private let task = OwnedTask()

    /// - Parameters:
    ///   - use: The first user, which is kept.
    ///   - key: The source's key in the open store.
    ///   - isImmediate: Whether the source's state is read before this returns.
    init<Element>(
        _ source: QuerySource<Element>, for use: SourceUse, key: AnyHashable, in container: PersistenceContainer,
        isImmediate: Bool
    ) {
        uses = [WeakReference(use)]
        self.container = container
        self.key = key
        let storage = container.storage
        watch(use)
        if isImmediate {
            openNow(source)
            return
        }
        task.task = Task { [weak self] in
            let status = await Result { try await storage.status(of: source) }
            if !Task.isCancelled { self?.open(status) }
        }
    }

    /// Reads the source's state, if it wasn't read, before this returns.
    func openNow<Element>(_ source: QuerySource<Element>) {
        guard opening == nil else { return }
        open(Result { try container.storage.statusNow(of: source) })
    }

    /// The user that automatic requests are made for; nil if there is none.
    private var current: SourceUse? {
        let uses = uses.compactMap { $0.object as? SourceUse }
        return uses.last { $0.policy != .localOnly } ?? uses.last
    }

    /// Adds a user of the source.
    ///
    /// - Returns: The plan for the user; nil while the source's state is still being read.
    func reopen(for use: SourceUse) -> RefreshPlan? {
        uses = uses.filter { $0.object != nil } + [WeakReference(use)]
        watch(use)
        guard let status, opening != nil else { return nil }
        let plan = plan(status, for: use, isOpening: true)
        if case .refreshing = phase { return plan }
        // A user without a remote doesn't change what the others wait for.
        if use === current { schedule(plan) }
        return plan
    }

    /// Plans again when a user is gone: the others may want the source at another time.
    private func watch(_ use: SourceUse) {
        use.onEnd { [weak self] in
            Task { @MainActor in
                guard let self, let status = self.status, self.opening != nil else { return }
                if case .refreshing = self.phase { return }
                self.schedule(self.plan(status, isOpening: false))
            }
        }
    }

    private func open(_ found: Result<QuerySourceStatus, any Error>) {
        // Users that ask before the state was read learn it from the answer.
        guard opening == nil else { return }
        switch found {
        case .success(let found):
            take(found)
            if found.failures > 0 { error = .remembered(found) }
            let plan = plan(found, isOpening: true)
            opening = plan
            if case .idle = phase { schedule(plan) }
        case .failure(let failure):
            error = failure.forSources
            opening = RefreshPlan(showsStored: true, isStale: true, requestTime: nil)
        }
    }

    private func take(_ status: QuerySourceStatus) {
        self.status = status
        isStale = plan(status, isOpening: false).isStale
    }

    /// Determines what to do. A remote that has refused the source is asked once more with other credentials, and once
    /// if it wasn't asked since the store was opened.
    private func plan(_ status: QuerySourceStatus, for use: SourceUse? = nil, isOpening: Bool) -> RefreshPlan {
        ((use ?? current)?.policy ?? .localOnly).plan(
            status, now: container.storage.config.clock.now, isOpening: isOpening,
            mayAskRefused: container.storage.refreshes.refusals[key] != container.storage.refreshes.credentials)
    }

    /// Asks a remote that has refused the source, with other credentials.
    func credentialsChanged() {
        guard let use = current, use.policy != .localOnly, let status, status.isRefused else { return }
        // A request in flight may use the old ones; if it is refused, it is repeated.
        if case .refreshing = phase { return }
        begin(use)
    }

    /// Waits for the time of the next request, or until the rows become stale, and then plans again.
    private func schedule(_ plan: RefreshPlan) {
        guard let use = current, use.run != nil, let status, let time = plan.requestTime else {
            phase = .idle
            return
        }
        let clock = container.storage.config.clock
        let now = clock.now
        guard time > now else {
            begin(use)
            return
        }
        phase = .waiting
        let expiry = use.policy.expiry(of: status, now: now).flatMap { $0 > now ? $0 : nil }
        let end = min(expiry ?? time, time)
        task.task = Task { [weak self] in
            // Cancelled with the waiting task.
            guard (try? await clock.sleep(until: end)) != nil, let self, case .waiting = self.phase else { return }
            self.take(status)
            self.schedule(self.plan(status, isOpening: false))
        }
    }

    /// Whether its state was read.
    var isOpened: Bool { opening != nil }

    /// Returns when its state was read, or the current request has ended.
    func answer() async {
        if case .refreshing(let request) = phase { return await request.value }
        await task.task?.value
    }

    /// Fetches now, or waits for the current request.
    ///
    /// - Parameter use: The user that asks.
    func refresh(for use: SourceUse) async {
        if case .refreshing(let task) = phase { return await task.value }
        await begin(use)?.value
    }

    @discardableResult
    private func begin(_ use: SourceUse?) -> Task<Void, Never>? {
        guard let run = use?.run else { return nil }
        isRefreshing = true
        let subscriptions = container.storage.subscriptions
        let credentials = container.storage.refreshes.credentials
        let request = Task { [weak self] in
            let result = await Result { try await run() }
            // A user that sees that the request has ended also sees its rows.
            await subscriptions.catchUp(isUrgent: true)
            subscriptions.deliveryQueue.drain()
            self?.end(result, credentials)
        }
        phase = .refreshing(request)
        task.task = request
        return request
    }

    /// - Parameter credentials: The number of the credentials that were used.
    private func end(_ result: Result<QuerySourceStatus, any Error>, _ credentials: Int) {
        isRefreshing = false
        phase = .idle
        var mayRetry = true
        switch result {
        case .success(let status):
            error = nil
            container.storage.refreshes.refusals[key] = nil
            fetchCount += 1
            take(status)
        case .failure(let failure as SourceFailure):
            error = failure.error
            container.storage.refreshes.refusals[key] = failure.status.isRefused ? credentials : nil
            take(failure.status)
        case .failure(let failure):
            // The store can't be used: there is no point in asking the remote again, whether or not it has failed
            // before.
            error = failure.forSources
            mayRetry = false
        }
        answerCount += 1
        if opening == nil { opening = RefreshPlan(showsStored: false, isStale: isStale, requestTime: nil) }
        guard let status, mayRetry else { return }
        if status.isRefused, credentials != container.storage.refreshes.credentials {
            begin(current)
        } else {
            schedule(plan(status, isOpening: false))
        }
    }
}

/// Owns a task, and cancels it when it is replaced or the owner is released.
///
/// Isolation: `Sendable`; the task is guarded by a lock.
private final class OwnedTask: Sendable {
    private let state = Mutex<Task<Void, Never>?>(nil)

    var task: Task<Void, Never>? {
        get { state.withLock { $0 } }
        set {
            state.withLock { task in
                task?.cancel()
                task = newValue
            }
        }
    }

    deinit { state.withLock { $0?.cancel() } }
}

extension Result where Success: Sendable, Failure == any Error {
    fileprivate init(_ body: @Sendable () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension Error {
    /// The error for users of sources.
    var forSources: StorageError {
        (self as? StorageError)
            ?? StorageError(
                .remoteFailed, "A refresh ended: \(self)", remedy: "Call refresh() to ask again.", cause: self)
    }
}

extension StorageError {
    /// The stored failure of an earlier run of the program.
    fileprivate static func remembered(_ status: QuerySourceStatus) -> StorageError {
        StorageError(
            .remoteFailed, status.lastError ?? "The remote failed.", remedy: .remedy(isRefused: status.isRefused))
    }
}
