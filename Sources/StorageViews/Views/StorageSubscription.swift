public import Foundation
public import Observation
public import StorageCore
internal import StorageEntities
internal import StorageLog
public import StorageRouting
internal import Synchronization

/// The base class of all live views.
///
/// ```swift
/// if let error = users.error {
///     print(error.message, error.remedy)
///     await users.refresh()
/// }
/// users.cancel()
/// ```
///
/// A view is kept up to date from the log: each commit that affects it changes it in place, and all views of a store
/// show the state at one position. It stays active while it, or one of its sequences, is retained.
///
/// If it can't be kept up to date, it keeps its last value, reports the reason in ``error``, and retries after
/// increasing delays; an error never ends it.
@MainActor @Observable
public class StorageSubscription {
    /// Whether the first value, or one that was requested, is being loaded.
    public internal(set) var isLoading = true
    /// Why the value is out of date; nil if it isn't.
    public internal(set) var error: StorageError?
    /// When the value was last updated.
    public internal(set) var lastRefreshTime: Date?
    /// The log position that the value reflects.
    public internal(set) var position: Int64 = 0
    /// Whether it follows the store, which it does until it is cancelled or the store is closed.
    public internal(set) var isActive = true
    /// How often its value has been updated.
    @ObservationIgnored public internal(set) var refreshCount = 0
    /// How many seconds the main actor has spent on that.
    @ObservationIgnored private(set) var refreshTime = 0.0
    /// The main actor's average time for an update, in seconds; 0 if the value hasn't been updated yet.
    public var averageRefreshTime: TimeInterval { refreshCount > 0 ? refreshTime / Double(refreshCount) : 0 }
    @ObservationIgnored let engine: SubscriptionEngine
    @ObservationIgnored private var phase = Phase.unopened
    /// Makes the node and reads its first value: on the engine, or beside it.
    private struct Opening: Sendable {
        let onEngine: @Sendable (isolated SubscriptionEngine) throws -> LiveHandle
        let beside: @Sendable (SubscriptionEngine) async throws -> LiveHandle
    }
    /// Starts an opening, and ignores earlier ones from then on; nil if the view has no node of its own.
    @ObservationIgnored private var beginOpening: (@MainActor (StorageSubscription) -> Opening)?
    @ObservationIgnored private var openingCount = 0
    @ObservationIgnored private var retries = RetryDelay()
    /// Ends a view without a node when the store is closed.
    @ObservationIgnored private var closing: StorageObservation?
    @ObservationIgnored private var isReadingAgain = false

    /// The state of the view's node.
    private enum Phase {
        /// There is no node, and none is being opened.
        case unopened
        /// The first value is being read; every caller that needs it waits for this task.
        case opening(Task<Void, Never>)
        /// The first value couldn't be read; a retry is scheduled.
        case retrying(Task<Void, any Error>)
        /// It follows its node, until that ends.
        case live(LiveHandle)
        /// The value stays as it is. The result of a running opening is dropped.
        case cancelled
    }

    init(_ engine: SubscriptionEngine) { self.engine = engine }

    /// Keeps its node; nil if it has none.
    var handle: LiveHandle? {
        if case .live(let handle) = phase { handle } else { nil }
    }

    /// Reloads everything. Only needed for a refresh button, or to retry after an error.
    public func refresh() async {
        guard isActive else { return }
        if handle == nil {
            // A running opening that has published its value already doesn't read it again, so it is reloaded below.
            let hasValue = refreshCount > 0
            guard case .opening(let opening) = phase else { return await open() }
            await opening.value
            guard hasValue else { return }
        }
        guard let handle else { return }
        isLoading = true
        do {
            try await engine.refresh(handle)
            engine.deliveryQueue.drain()
        } catch {
            failed(error)
        }
        isLoading = false
    }

    /// Ends the view; from then on its value stays as it is.
    public func cancel() {
        if case .retrying(let retry) = phase { retry.cancel() }
        phase = .cancelled
        ended()
    }

    /// How changes of each table reach the view, whether it applies them or runs again, which index is missing, and
    /// what it has cost: see ``SubscriptionExplanation``. Nil if the view has no node, or the store can't be read.
    public func explain() async -> SubscriptionExplanation? {
        guard let handle else { return nil }
        // The view's `error` reports why the store can't be read.
        return try? await engine.explain(handle)
    }

    // MARK: For the kinds of views

    /// Follows the store by a node of its own.
    ///
    /// - Parameters:
    ///   - isImmediate: Whether the first value is read before this returns.
    ///   - node: Creates the node on the engine, and again after a failure. An error means that the query is invalid.
    ///   - take: Receives the updates.
    func follow<Node: LiveNode>(
        isImmediate: Bool, _ node: @escaping @autoclosure @Sendable () throws -> Node,
        _ take: @escaping @MainActor @Sendable (Node.Update) -> Void
    ) {
        beginOpening = { view in
            view.openingCount += 1
            let number = view.openingCount
            let pendingUpdate = view.pendingUpdate { [weak view] (update: Node.Update) in
                // A node of an earlier opening may have published an update before it was removed.
                guard let view, view.openingCount == number, view.isActive else { return }
                take(update)
            }
            return Opening(
                onEngine: { try $0.add(node(), pendingUpdate) },
                beside: { try await $0.addReadingBeside(node, pendingUpdate) })
        }
        guard isImmediate else {
            engine.deliveryQueue.open { [weak self] in await self?.open() }
            return
        }
        do {
            guard let opening = beginOpening?(self) else { return }
            phase = .live(try engine.now { try opening.onEngine($0) })
            engine.deliveryQueue.drain()
        } catch {
            failed(error)
        }
    }

    /// Follows the store by a list of entities.
    func followList<Entity: RegisteredEntity>(
        _ start: SubscriptionStart, _ spec: ListSpec<Entity>, including inclusions: [any Inclusion<Entity>],
        _ take: @escaping @MainActor @Sendable (ListUpdate<Entity>) -> Void
    ) {
        let isImmediate = start.isImmediate(for: spec.request, of: spec.form.table)
        if inclusions.isEmpty {
            follow(isImmediate: isImmediate, ListNode(spec), take)
        } else {
            follow(isImmediate: isImmediate, try RelatedListNode(spec, including: inclusions), take)
        }
    }

    /// Opens it where it isn't open: once, however many wait for that.
    private func open() async {
        switch phase {
        case .live, .cancelled: return
        case .opening(let opening): return await opening.value
        case .retrying(let retry): retry.cancel()
        case .unopened: break
        }
        guard let begin = beginOpening else { return }
        let opening = Task { await openNow(begin(self)) }
        phase = .opening(opening)
        await opening.value
    }

    /// Returns once the first value was read, or couldn't be.
    func waitForFirstValue() async {
        switch phase {
        case .unopened, .opening: await open()
        case .retrying, .live, .cancelled: break
        }
    }

    private func openNow(_ opening: Opening) async {
        // It may be cancelled before and while the first value is read.
        guard case .opening = phase else { return }
        isLoading = true
        do {
            let handle = try await opening.beside(engine)
            guard case .opening = phase else { return }
            phase = .live(handle)
            closing = nil
            engine.deliveryQueue.drain()
        } catch {
            failed(error)
        }
    }

    /// Reloads everything, soon: the steps of an update don't fit what is there.
    func readAgain() {
        guard !isReadingAgain else { return }
        isReadingAgain = true
        Task { [weak self] in
            await self?.refresh()
            self?.isReadingAgain = false
        }
    }

    /// To be called with each update.
    func took(_ error: StorageError?, at position: Int64) {
        isLoading = false
        self.error = error
        guard error == nil else { return }
        self.position = position
        lastRefreshTime = Date()
        refreshCount += 1
        retries = RetryDelay()
    }

    /// A first value that can't be read is retried, unless the query itself is invalid.
    private func failed(_ error: any Error) {
        if case .cancelled = phase { return }
        isLoading = false
        self.error = error.forSubscribers
        guard handle == nil else { return }
        phase = .unopened
        if self.error?.code == .closed { return ended() }
        guard self.error?.isFinal == false else {
            // There is no node and no retry that would notice that the store is closed.
            closing = engine.onClose { [weak self] in Task { @MainActor in self?.ended() } }
            return
        }
        let delay = retries.next()
        phase = .retrying(
            Task { [weak self] in
                try await Task.sleep(for: .seconds(delay))
                await self?.open()
            })
    }

    /// To be called when the updates have ended.
    func ended() {
        isActive = false
        isLoading = false
    }

    /// The value, or the error if there never was one.
    func result<Value>(_ value: Value) -> Result<Value, StorageError> {
        if let error, refreshCount == 0 { return .failure(error) }
        return .success(value)
    }

    /// Creates the pending update of one of the view's nodes.
    func pendingUpdate<Update>(_ take: @escaping @MainActor @Sendable (Update) -> Void) -> PendingUpdate<Update> {
        PendingUpdate(
            onMainActor: { [weak self] update in
                let start = ContinuousClock.now
                take(update)
                self?.refreshTime += (ContinuousClock.now - start) / .seconds(1)
            },
            onEnd: { [weak self] in self?.ended() })
    }
}
