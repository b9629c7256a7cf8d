internal import Foundation
internal import StorageCore

/// A batch of writes on its way to a service.
typealias SyncPush = Task<[NumberedResult], any Error>

/// Speaks a core's protocol with a remote service, which knows neither positions nor numbers.
///
/// - **Positions** count what was received: each document that came is one. A page whose answer got lost is handed out again.
/// - **Numbers**: the service can't tell which writes it has taken, so those without an answer are sent again. It sees them in their
///   order, and no later write of the document in between; what sets values has no other effect the second time.
/// - **Order**: what is received of a document while a write of it is being sent waits until the write is saved as taken. It may be of
///   before the write or of behind it: where it doesn't agree with the write, the document is fetched again. So is one of which both
///   a change and a deletion come, which are two streams.
/// - **Conditions**: the service can't check that nobody else has changed a document. So it is asked for it before a conditional write is
///   sent; what is changed between that and the write is overwritten.
/// - **Conflicts**: where the service says by itself that a document isn't in the state that a write was made on, the document is
///   fetched, and the write is made on that. What isn't conditional is sent again; where nobody has changed the document, it would be
///   refused again, so it is parked.
/// - **Pulls**: the whole collection, and then what streams say of it. Where a stream ends or fails, all of it again. With a query, those
///   documents that it finds; of others, only what the store has is kept as the service has it.
/// - **Capabilities**: what a service can't do isn't asked of it, see ``RemoteCapabilities``.
///
/// Isolation: an actor; the service is called on the main actor, and only while its path is the one of this remote.
actor ServiceRemote<T: DataSyncModelProtocol>: SyncRemote {
    let access: RemoteAccess<T>
    let store: SyncStore<T>
    let since: Int64
    /// Of a remote of single documents, the one that is listened to.
    private let document: String?

    enum Listener {
        case off
        /// To be begun with the next pull.
        case due
        /// Documents were fetched, and streams are read.
        case on
        case failed(any Error)
    }

    private(set) var listener = Listener.off
    /// Reads the streams.
    private var reading: Task<Void, Never>?
    /// What is listened to; nil for the whole collection.
    private var query: (builder: QueryBuilder, evaluation: QueryEvaluation)?
    private(set) var snapshotEnd: Int64?
    /// Whether ``received`` has all that the remote had when it was listened to.
    private var hasSnapshot = false
    /// Counts listeners: what an earlier one still says doesn't count.
    private(set) var generation = 0
    /// What isn't part of a page yet.
    private var received: [Received] = []

    private struct Received {
        let change: RemoteAccess<T>.Change
        /// Whether it is part of what the remote had when it was listened to.
        let isSnapshot: Bool
    }

    /// The page that was handed out last, until it is saved.
    private var page: SyncPage?
    /// Up to where pages were handed out since it was listened to.
    private var handedOut: Int64 = 0
    /// What is done to documents by writes that are being sent or aren't saved as taken, by the numbers of their pushes.
    var unsaved: [Int64: [String: [DocumentOperation]]] = [:]
    private enum Fetch {
        case underWay
        case again
    }

    /// The documents that are being fetched again.
    private var fetches: [String: Fetch] = [:]
    /// The documents of which the streams have told changes, and deletions: which of both came first isn't known where they are two.
    private var changedIds: Set<String> = []
    private var deletedIds: Set<String> = []
    /// Documents that were sent to while the collection was being fetched: it may have them as they were before.
    var sentWhileFetching: Set<String> = []
    /// How often the service has reported a conflict for a write, by origin: each time it is another write to the service.
    var rebases: [Int64: Int] = [:]
    /// Of the documents that were sent last.
    var rows = RecentRows()
    var lastPush: SyncPush?
    private var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]

    /// The longest time that a pull waits for something to answer.
    private static var longestPull: Duration { .seconds(25) }
    /// Behind this time no further write of a batch is begun.
    static var longestPush: Duration { .seconds(20) }
    private static var pageSize: Int { 1_000 }

    /// - Parameter push: Of the engine's remote before this one. It may be under way still.
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
            // So is a collection that was being fetched: nobody waits for that answer any more.
            if case .on = listener, !hasSnapshot, access.getAll != nil {
                endListener()
                listener = .due
            }
            return .welcome(
                SyncWelcome(
                    lines: [RemoteLine(id: Array(store.path.utf8), fork: 0)], head: record.position,
                    lastNumber: record.settledNumber, results: []))
        case .push(_, _, let first, let origins):
            return .pushed(try await push(origins, from: first, behind: record.position))
        case .pull(_, let position): return .page(try await pull(behind: position))
        }
    }

    @MainActor func checkPath() throws {
        guard access.path() == store.path else { throw RemoteError.unauthorized }
    }

    nonisolated func failure(_ error: any Error) -> SyncFailure {
        if let error = error as? RemoteError, error == .unauthorized { return .unauthorized }
        let duration = (error as? any RetryableError)?.retryAfter
        // More than an hour isn't waited for anyway.
        return .retryable(afterMicroseconds: duration.map { Int64(min(max(0, $0.seconds), 86_400) * 1_000_000) })
    }
}

// MARK: Reading

extension ServiceRemote {
    /// What is listened to from the next ``setListening(_:)`` on; nil for the whole collection.
    ///
    /// - Throws: `invalid-argument` and `invalid-value` for a query that can't be listened to.
    func setQuery(_ query: QueryBuilder?) throws {
        self.query = try query.map { ($0, try QueryEvaluation(listening: $0)) }
    }

    func setListening(_ isListening: Bool) {
        endListener()
        listener = isListening ? .due : .off
        wake()
    }

    private func endListener() {
        reading?.cancel()
        generation += 1
        received = []
        page = nil
        handedOut = 0
        hasSnapshot = false
        snapshotEnd = nil
        fetches = [:]
        changedIds = []
        deletedIds = []
    }

    private func pull(behind position: Int64) async throws -> SyncPage {
        if let page, page.start == position { return page }
        page = nil
        if position < handedOut {
            // The store knows less than was handed out: it was put back, or asks for all again.
            endListener()
            if case .on = listener { listener = .due }
        }
        let deadline = ContinuousClock.now + Self.longestPull
        while true {
            switch listener {
            case .due: try await begin()
            case .failed(let error):
                listener = .due
                throw error
            case .off, .on: break
            }
            try Task.checkCancellation()
            // Listened to again meanwhile.
            if case .due = listener { continue }
            let isComplete = hasSnapshot && snapshotEnd == nil && received.isEmpty
            guard next().isEmpty, !isComplete, ContinuousClock.now < deadline else { break }
            await wait(until: deadline)
        }
        let indices = next()
        let changes = indices.map { received[$0].change }
        for index in indices.reversed() { received.remove(at: index) }
        let page = SyncPage(
            start: position, end: position + Int64(changes.count),
            changes: try changes.enumerated().map { try remoteChange($1, at: position + 1 + Int64($0)) })
        if !changes.isEmpty { self.page = page }
        handedOut = page.end
        if hasSnapshot, snapshotEnd == nil, !received.contains(where: \.isSnapshot) { snapshotEnd = page.end }
        return page
    }

    /// Where the changes of the next page stand in ``received``: none of documents that are being written, and none that stands
    /// behind a collection that is still being fetched.
    private func next() -> [Int] {
        if case .on = listener, !hasSnapshot { return [] }
        let written = unsaved.values.reduce(into: Set<String>()) { $0.formUnion($1.keys) }
        var indices: [Int] = []
        for (index, received) in received.enumerated() where !written.contains(received.change.id) {
            indices.append(index)
            if indices.count == Self.pageSize { break }
        }
        return indices
    }

    private func remoteChange(_ change: RemoteAccess<T>.Change, at position: Int64) throws -> RemoteChange {
        let operation: WriteOperation =
            switch change {
            case .saved(let document): .save(try DocumentFields(encoding: document).storageValues)
            case .deleted: .delete
            }
        return RemoteChange(
            position: position, document: DocumentID(entity: store.table.entity, id: change.id), operation: operation,
            ownOrigin: nil)
    }

    /// Opens the streams, and then fetches the collection: what changes meanwhile comes twice rather than never.
    private func begin() async throws {
        endListener()
        let number = generation
        let query = query
        let changes = try await listen(query?.builder)
        guard number == generation else { return }
        reading = Task { [weak self] in
            do {
                for try await change in changes { try await self?.receive(change, number) }
                await self?.fail(RemoteError.unavailable(), number)
            } catch {
                await self?.fail(error, number)
            }
        }
        listener = .on
        guard access.getAll != nil else {
            // Without a document there is nothing to wait for; else it is the first that the stream says.
            hasSnapshot = document == nil
            return
        }
        do {
            sentWhileFetching = []
            let documents = try await getAll(query?.builder)
            let ids = Set(documents.map(\.id))
            let others = try await store.ids().filter { !ids.contains($0) }
            // What a query doesn't find may be there all the same. Of what it doesn't concern nothing is known.
            let left = try await store.ids(of: others, foundBy: query?.evaluation)
            guard number == generation else { return }
            let gone = query == nil ? others : []
            let changes: [RemoteAccess<T>.Change] = documents.map { .saved($0) } + gone.map { .deleted(id: $0) }
            let snapshot = changes.filter { !sentWhileFetching.contains($0.id) }
            received.insert(contentsOf: snapshot.map { Received(change: $0, isSnapshot: true) }, at: 0)
            hasSnapshot = true
            // Another pull may wait for it: this one may have been given up.
            wake()
            for id in sentWhileFetching { refetch(id) }
            refetch(left)
        } catch {
            if number == generation {
                endListener()
                listener = .due
                wake()
            }
            throw error
        }
    }

    @MainActor private func listen(
        _ query: QueryBuilder?
    ) throws -> AsyncThrowingStream<RemoteAccess<T>.Change, any Error> {
        try checkPath()
        return access.listen(document, query)
    }

    @MainActor private func getAll(_ query: QueryBuilder?) async throws -> [T] {
        try checkPath()
        let documents =
            if let query { try await access.find?(query) ?? [] } else { try await access.getAll?() ?? [] }
        // Another account's, where somebody has signed in meanwhile.
        try checkPath()
        return documents
    }

    /// Takes a document as if the remote had told it by itself. While it is listened to, streams may have told something newer:
    /// then the document is fetched once more.
    ///
    /// - Returns: The generation of listeners with which it is given up.
    func add(_ document: T) -> Int {
        if case .on = listener { refetch(document.id) } else { take(.saved(document)) }
        return generation
    }

    /// Whether something of a document was received behind a position, or is being fetched.
    func holds(_ id: String, behind position: Int64) -> Bool {
        if fetches[id] != nil || received.contains(where: { $0.change.id == id }) { return true }
        return page?.changes.contains { $0.position > position && $0.document.id == id } ?? false
    }

    func take(_ change: RemoteAccess<T>.Change) {
        received.append(Received(change: change, isSnapshot: false))
        wake()
    }

    func didSavePush(through number: Int64) {
        var sent: [String: [DocumentOperation]] = [:]
        for (first, operations) in unsaved.sorted(by: { $0.key < $1.key }) where first <= number {
            sent.merge(operations) { $0 + $1 }
            unsaved[first] = nil
        }
        // Of each document that was written, what was received last.
        let last = Dictionary(
            received.filter { sent[$0.change.id] != nil }.map { ($0.change.id, $0.change) }, uniquingKeysWith: { $1 })
        let doubtful = last.filter { id, change in
            let received = change.fields
            var expected = received
            for operation in sent[id] ?? [] { operation.apply(to: &expected) }
            return expected != received
        }
        received.removeAll { doubtful[$0.change.id] != nil }
        wake()
        for id in doubtful.keys { refetch(id) }
    }

    /// Fetches a document, once more where something is received of it meanwhile: that may be newer or older.
    func refetch(_ id: String) {
        guard fetches.updateValue(.again, forKey: id) == nil else { return }
        let number = generation
        Task { await fetchAgain(id, number) }
    }

    /// Fetches documents one after another: there may be many.
    private func refetch(_ ids: [String]) {
        let number = generation
        guard !ids.isEmpty else { return }
        Task {
            for id in ids where number == generation && fetches[id] == nil {
                fetches[id] = .again
                await fetchAgain(id, number)
            }
        }
    }

    private func fetchAgain(_ id: String, _ number: Int) async {
        do {
            while number == generation, fetches[id] == .again {
                fetches[id] = .underWay
                let change = try await fetch(id)
                guard number == generation, fetches[id] == .underWay else { continue }
                fetches[id] = nil
                take(change)
            }
        } catch {
            fail(error, number)
        }
    }

    @MainActor func fetch(_ id: String) async throws -> RemoteAccess<T>.Change {
        try checkPath()
        do {
            let document = try await access.get(id)
            try checkPath()
            return .saved(document)
        } catch RemoteError.notFound {
            return .deleted(id: id)
        }
    }

    /// Whether a change is of a document that a query finds, or that the store has or is about to.
    private func concerns(_ change: RemoteAccess<T>.Change, _ query: QueryEvaluation) async throws -> Bool {
        if case .saved(let document) = change, query.matches(try JSONValue(encoding: document)) { return true }
        let id = change.id
        return try await store.documents([id]).contains { $0.document != nil } || holds(id, behind: 0)
    }

    private func receive(_ change: RemoteAccess<T>.Change, _ number: Int) async throws {
        guard number == generation, await access.path() == store.path, number == generation else { return }
        guard access.getAll != nil else {
            received.append(Received(change: change, isSnapshot: !hasSnapshot))
            hasSnapshot = true
            return wake()
        }
        if let query, try await !concerns(change, query.evaluation) { return }
        guard number == generation else { return }
        let isDoubtful: Bool
        switch change {
        case .saved:
            changedIds.insert(change.id)
            isDoubtful = deletedIds.contains(change.id)
        case .deleted:
            deletedIds.insert(change.id)
            // What a query doesn't find any more may be reported as a deletion.
            isDoubtful = changedIds.contains(change.id) || query != nil
        }
        if isDoubtful || fetches[change.id] != nil { refetch(change.id) } else { take(change) }
    }

    private func fail(_ error: any Error, _ number: Int) {
        guard number == generation else { return }
        if case .off = listener {
            // Nobody listens: what waits for the document fetches it again.
            endListener()
        } else {
            reading?.cancel()
            listener = .failed(error)
        }
        wake()
    }
}

// MARK: Waiting

extension ServiceRemote {
    private func wake() {
        let waiting = waiters.values
        waiters = [:]
        for waiter in waiting { waiter.resume() }
    }

    private func wait(until deadline: ContinuousClock.Instant) async {
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

    private func wake(_ id: UUID) { waiters.removeValue(forKey: id)?.resume() }
}
