internal import Foundation
internal import StorageCore

/// A batch of writes that is being sent to a service.
typealias SyncPush = Task<[NumberedResult], any Error>

/// Connects a core to a remote service, which has neither positions nor numbers.
///
/// - **Positions** count what was received: one for each document. A page whose answer got lost is returned again.
/// - **Numbers**: the service can't tell which writes it has accepted, so those without an answer are sent again. The
///   service receives them in their order, with no later write of the document in between; writes that set values have
///   no further effect the second time.
/// - **Order**: changes received for a document while one of its writes is being sent are held until the write is saved
///   as accepted. They may predate the write or follow it: if they don't agree with the write, the document is fetched
///   again. So is a document with both a change and a deletion, which arrive in two streams.
/// - **Conditions**: the service can't check that nobody else has changed a document. So the document is fetched before
///   a conditional write is sent; changes between that and the write are overwritten.
/// - **Conflicts**: if the service itself reports a conflict, the document is fetched and the write rebased. An
///   unconditional write is sent again; if nobody has changed the document, it would be refused again, so it is parked.
/// - **Pulls** return the whole collection and then the changes from streams. When a stream ends or fails, everything
///   is fetched again. With a query, they return the matching documents; for other documents, only those that are in
///   the store are kept up to date.
/// - **Capabilities**: the service isn't asked for what it can't do, see ``RemoteCapabilities``.
///
/// Isolation: an actor; the service is called on the main actor, and only while its path is the one of this remote.
actor ServiceRemote<T: DataSyncModelProtocol>: SyncRemote {
    let access: RemoteAccess<T>
    let store: SyncStore<T>
    let since: Int64
    /// For a remote of single documents, the document it listens to.
    private let document: String?

    enum Listener {
        case off
        /// To be started with the next pull.
        case due
        /// Documents were fetched, and streams are being read.
        case on
        case failed(any Error)
    }

    private(set) var listener = Listener.off
    /// Reads the streams.
    private var reading: Task<Void, Never>?
    /// The query to listen to; nil for the whole collection.
    private var query: (builder: QueryBuilder, evaluation: QueryEvaluation)?
    private(set) var snapshotEnd: Int64?
    /// Whether ``received`` contains everything that the remote had when listening began.
    private var hasSnapshot = false
    /// Counts listeners: output of earlier ones is ignored.
    private(set) var generation = 0
    /// Received documents that aren't part of a page yet.
    private var received: [Received] = []

    private struct Received {
        let change: RemoteAccess<T>.Change
        /// Whether it belongs to the initial snapshot.
        let isSnapshot: Bool
    }

    /// The last returned page, until it is saved.
    private var page: SyncPage?
    /// The position up to which pages were returned since listening began.
    private var handedOut: Int64 = 0
    /// Operations of writes that are being sent or aren't saved as accepted yet, by the number of their push and by
    /// document.
    var unsaved: [Int64: [String: [DocumentOperation]]] = [:]
    private enum Fetch {
        case underWay
        case again
    }

    /// The documents that are being fetched again.
    private var fetches: [String: Fetch] = [:]
    /// The documents for which the streams have reported changes and deletions: with two streams, their order isn't
    /// known.
    private var changedIds: Set<String> = []
    private var deletedIds: Set<String> = []
    /// Documents that were written while the collection was being fetched: the result may contain their earlier state.
    var sentWhileFetching: Set<String> = []
    /// How often the service has reported a conflict for a write, by origin: each time it is a new write to the
    /// service.
    var rebases: [Int64: Int] = [:]
    /// Rows of recently sent documents.
    var rows = RecentRows()
    var lastPush: SyncPush?
    private var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]

    /// The longest time that a pull waits for something to return.
    private static var longestPull: Duration { .seconds(25) }
    /// After this time no further write of a batch is begun.
    static var longestPush: Duration { .seconds(20) }
    private static var pageSize: Int { 1_000 }

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
            // A collection that was being fetched is fetched again: nobody waits for that answer any more.
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
        // More than an hour is never waited for anyway.
        return .retryable(afterMicroseconds: duration.map { Int64(min(max(0, $0.seconds), 86_400) * 1_000_000) })
    }
}

// MARK: Reading

extension ServiceRemote {
    /// Sets the query for the next ``setListening(_:)``; nil for the whole collection.
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

    /// Streams that were opened with the old credentials may still be refused.
    func credentialsChanged() {
        if case .off = listener { return }
        endListener()
        listener = .due
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
            // The store knows less than was returned: it was restored, or requests everything again.
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
            // Listening was started again meanwhile.
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

    /// The indices in ``received`` of the next page's changes. Excludes documents that are being written, and
    /// everything after a collection that is still being fetched.
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

    /// Opens the streams, and then fetches the collection: concurrent changes arrive twice rather than never.
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
            // Without a document there is nothing to wait for; with one, it is the first element of the stream.
            hasSnapshot = document == nil
            return
        }
        do {
            sentWhileFetching = []
            let documents = try await getAll(query?.builder)
            let ids = Set(documents.map(\.id))
            let others = try await store.ids().filter { !ids.contains($0) }
            // Documents that a query doesn't match may still exist. Nothing is known about documents outside the query.
            let left = try await store.ids(of: others, foundBy: query?.evaluation)
            guard number == generation else { return }
            let gone = query == nil ? others : []
            let changes: [RemoteAccess<T>.Change] = documents.map { .saved($0) } + gone.map { .deleted(id: $0) }
            let snapshot = changes.filter { !sentWhileFetching.contains($0.id) }
            received.insert(contentsOf: snapshot.map { Received(change: $0, isSnapshot: true) }, at: 0)
            hasSnapshot = true
            // Another pull may wait for it: this one may have been cancelled.
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
        // Belongs to another account, if somebody has signed in meanwhile.
        try checkPath()
        return documents
    }

    /// Adds a document as if the remote had reported it. While listening, streams may have reported something newer, so
    /// the document is fetched once more.
    ///
    /// - Returns: The generation of listeners with which it is dropped.
    func add(_ document: T) -> Int {
        if case .on = listener { refetch(document.id) } else { take(.saved(document)) }
        return generation
    }

    /// Whether a change of a document was received after a position, or the document is being fetched.
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
        // The last received state of each written document.
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

    /// Fetches a document, and once more if a change arrives meanwhile: that may be newer or older.
    func refetch(_ id: String) {
        guard fetches.updateValue(.again, forKey: id) == nil else { return }
        let number = generation
        Task { await fetchOnce(id, number) }
    }

    /// Fetches documents one after another: there may be many.
    private func refetch(_ ids: [String]) {
        let number = generation
        guard !ids.isEmpty else { return }
        Task {
            for id in ids where number == generation && fetches[id] == nil {
                fetches[id] = .again
                await fetchOnce(id, number)
            }
        }
    }

    private func fetchOnce(_ id: String, _ number: Int) async {
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

    /// Whether a change is of a document that a query matches, or that the store has or is about to have.
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
            // A document that stops matching the query may be reported as deleted.
            isDoubtful = changedIds.contains(change.id) || query != nil
        }
        if isDoubtful || fetches[change.id] != nil { refetch(change.id) } else { take(change) }
    }

    private func fail(_ error: any Error, _ number: Int) {
        guard number == generation else { return }
        if case .off = listener {
            // Nobody is listening: whoever waits for the document fetches it again.
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
