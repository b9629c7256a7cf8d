internal import Foundation
internal import StorageCore

/// A batch of writes that is being sent to a service.
typealias SyncPush = Task<SyncAnswer, any Error>

/// Connects a core to a remote service, which has neither positions nor numbers.
///
/// - **Positions** count what was received: one for each document. A page whose answer got lost is returned again.
/// - **Numbers**: the service can't tell which writes it has accepted, so those without an answer are sent again. The
///   service receives them in their order, with no later write of the document in between; writes that set values have
///   no further effect the second time.
/// - **Order**: changes received for a document while one of its writes is being sent are held until the write is saved
///   as accepted. They may predate the write or follow it: if they don't agree with the write, the document is fetched
///   again. So is a document with both a change and a deletion, which arrive in two streams.
/// - **Conditions**: the service can't check that no other writer has changed a document. So the document is fetched before a conditional write is
///   sent; changes between that and the write are overwritten.
/// - **Conflicts**: if the service itself reports a conflict, the document is fetched and the write rebased. An unconditional write is sent again; if
///   no other writer has changed the document, it would be refused again, so it is parked.
/// - **Pulls** return the whole collection and then the changes from streams. When a stream ends or fails, everything
///   is fetched again. With a query, they return the matching documents; for other documents, only those that are in
///   the store are kept up to date.
/// - **Waiting**: a pull that has nothing to return waits for up to 25 seconds, so the core pulls again without a
///   pause. Only the one that completes the snapshot of a listener returns nothing at once. After a listener has ended
///   or failed, a pull throws the error, and the core delays the next one as after any failure.
/// - **Capabilities**: the service isn't asked for what it can't do, see ``RemoteCapabilities``.
///
/// Isolation: an actor; the service is called on the main actor, and only while its path is the one of this remote.
actor ServiceRemote<T: DataSyncModelProtocol>: SyncRemote {
    let access: RemoteAccess<T>
    let store: SyncStore<T>
    let since: Int64
    /// For a remote of single documents, the document it listens to.
    let document: String?

    enum Listener {
        case off
        /// To be started with the next pull.
        case due
        /// Documents were fetched, and streams are being read.
        case on
        case failed(any Error)
    }

    var listener = Listener.off
    /// Reads the streams.
    var reading: Task<Void, Never>?
    /// The query to listen to; nil for the whole collection.
    var query: (builder: QueryBuilder, evaluation: QueryEvaluation)?
    var snapshotEnd: Int64?
    /// Whether ``received`` contains everything that the remote had when listening began.
    var hasSnapshot = false
    /// Counts listeners: output of earlier ones is ignored.
    var generation = 0
    /// Received documents that aren't part of a page yet.
    var received: [Received] = []

    struct Received {
        let change: RemoteAccess<T>.Change
        /// Whether it belongs to the initial snapshot.
        let isSnapshot: Bool
    }

    /// The last returned page, until it is saved.
    var page: SyncPage?
    /// The documents that can't be written as JSON in the last page, if it had no changes: its positions don't say whether
    /// it was saved.
    var unreadableIds: [String] = []
    /// The position up to which pages were returned since listening began.
    var handedOut: Int64 = 0
    /// Operations of writes that are being sent or aren't saved as accepted yet, by the number of their push and by
    /// document.
    var unsaved: [Int64: [String: [DocumentOperation]]] = [:]
    enum Fetch {
        case underWay
        case again
    }

    /// The documents that are being fetched again.
    var fetches: [String: Fetch] = [:]
    /// The documents for which the streams have reported changes and deletions: with two streams, their order isn't
    /// known.
    var changedIds: Set<String> = []
    var deletedIds: Set<String> = []
    /// Documents that were written while the collection was being fetched: the result may contain their earlier state.
    var sentWhileFetching: Set<String> = []
    /// How often the service has reported a conflict for a write, by origin: each time it is a new write to the
    /// service.
    var rebases: [Int64: Int] = [:]
    /// Rows of recently sent documents.
    var rows = RecentRows()
    var lastPush: SyncPush?
    /// Pulls that wait for something to return.
    private(set) var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]

    /// The longest time that a pull waits for something to return.
    static var longestPull: Duration { .seconds(25) }
    /// After this time no further write of a batch is begun.
    static var longestPush: Duration { .seconds(20) }
    static var pageSize: Int { 1_000 }

    /// - Parameter push: The last push of the engine's previous remote. It may still be running.
    init(
        _ access: RemoteAccess<T>, store: SyncStore<T>, since: Int64, document: String?, behind push: SyncPush? = nil
    ) {
        self.access = access
        self.store = store
        self.since = since
        self.document = document
        lastPush = push
    }

    deinit { reading?.cancel() }

    func answer(_ request: SyncRequest.Kind, knowing record: SyncRecord) async throws -> SyncAnswer {
        switch request {
        case .hello:
            try await checkPath()
            // Writes without an answer are pending again.
            unsaved = [:]
            // A collection that was being fetched is fetched again, because that answer is no longer awaited.
            if case .on = listener, !hasSnapshot, access.getAll != nil {
                endListener()
                listener = .due
            }
            // The answer that contained them may be lost.
            refetch(unreadableIds)
            unreadableIds = []
            return .welcome(
                SyncWelcome(
                    lines: [RemoteLine(id: Array(store.path.utf8), fork: 0)], head: record.position,
                    lastNumber: record.settledNumber, results: []))
        case .push(_, _, let first, let origins):
            return try await push(origins, from: first, behind: record.position)
        case .pull(_, let position): return .page(try await pull(behind: position))
        }
    }

    @MainActor func checkPath() throws {
        guard access.path() == store.path else { throw RemoteError.unauthorized }
    }

    nonisolated func failure(_ error: any Error) -> SyncFailure {
        if let error = error as? RemoteError, error == .unauthorized { return .unauthorized }
        let duration = (error as? any RetryableError)?.retryAfter
        // More than an hour is never waited for anyway.
        return .retryable(afterMicroseconds: duration.map { Int64(min(max(0, $0.seconds), 86_400) * 1_000_000) })
    }
}

// MARK: Waiting

extension ServiceRemote {
    func wake() {
        let waiting = waiters.values
        waiters = [:]
        for waiter in waiting { waiter.resume() }
    }

    func wait(until deadline: ContinuousClock.Instant) async {
        let id = UUID()
        let timeout = Task { [weak self] in
            try? await Task.sleep(until: deadline)
            await self?.wake(id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                waiters[id] = continuation
            }
        } onCancel: {
            Task { await self.wake(id) }
        }
        timeout.cancel()
    }

    func wake(_ id: UUID) { waiters.removeValue(forKey: id)?.resume() }
}
