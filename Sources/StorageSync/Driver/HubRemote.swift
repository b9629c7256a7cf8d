internal import Foundation
internal import StorageCore
internal import StorageRecords

/// Connects a core to a hub, whose positions, numbers and epochs it uses directly.
///
/// - **Pulls** run while someone is listening. The pages from the beginning to the first one that nothing follows list
///   all documents of the collection, so all others are gone. A hub without any history has one empty page. Later
///   listeners get such an end too: newer documents that no page has named until then are gone.
/// - **Documents** that are requested by id are returned in a page of length zero.
/// - **Numbers**: the producer is a line of the store's history with a path. A store that is restored from a backup
///   begins another line, and with it another producer.
///
/// Isolation: an actor; the hub is contacted only while its path is the one of this remote.
actor HubRemote<T: DataSyncModelProtocol>: SyncRemote {
    private let access: RemoteAccess<T>
    private let service: any HubService
    private let store: SyncStore<T>
    private let since: Int64
    private let producer: ProducerID
    /// For an engine of one document, the document it listens to; nil for all documents.
    private let document: String?
    private var isListening = false
    private(set) var snapshotEnd: Int64?
    /// Whether the last answer to a pull was the page that sets it. If that got lost, it is repeated.
    private var isSnapshotEndReturned = false

    private enum Fetched {
        case waiting(RemoteChange)
        /// Part of a page whose answer may have got lost.
        case handedOut(RemoteChange)
        case delivered
    }

    /// The requested documents, by id.
    private var fetched: [ExactText: Fetched] = [:]
    /// Rows of recently sent documents.
    private var rows = RecentRows()
    private var pull: Task<SyncPage, any Error>?
    private var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]

    /// The longest time that a pull waits.
    private static var longestPull: Duration { .seconds(25) }

    init(
        _ access: RemoteAccess<T>, _ service: any HubService, store: SyncStore<T>, row: SyncRemoteRow, document: String?
    ) {
        self.access = access
        self.service = service
        self.store = store
        since = row.since
        producer = ProducerID(store.hubProducer(line: row.line, generation: row.generation))
        self.document = document
    }

    func answer(_ request: SyncRequest.Kind, knowing record: SyncRecord) async throws -> SyncAnswer {
        try await checkPath()
        return try await RemotePathCheck.$current.withValue(
            RemotePathCheck { [weak self] in try await self?.checkPath() }
        ) {
            try await answer(request, behind: record.position)
        }
    }

    private func answer(_ request: SyncRequest.Kind, behind known: Int64) async throws -> SyncAnswer {
        switch request {
        case .hello(let epoch):
            for (id, state) in fetched { if case .handedOut(let change) = state { fetched[id] = .waiting(change) } }
            if isSnapshotEndReturned { (snapshotEnd, isSnapshotEndReturned) = (nil, false) }
            return .welcome(try await service.hub.hello(from: producer, epoch: epoch, as: .full))
        case .push(let epoch, let line, let first, let origins):
            let outgoing = try await outgoing(origins)
            let problems = outgoing.compactMapValues(\.problem)
            guard problems.isEmpty else { return .unsent(problems) }
            let writes = writes(outgoing, of: origins)
            let batch = HubBatch(
                producer: producer, epoch: epoch, line: line, firstNumber: first, writes: writes.map(\.write))
            let results = try await service.hub.push(batch, as: .full)
            return .pushed(Self.results(results, of: writes, from: first, behind: known))
        case .pull(let line, let position): return .page(try await page(behind: position, on: line))
        }
    }

    @MainActor private func checkPath() throws {
        guard access.path() == store.path else { throw RemoteError.unauthorized }
    }

    nonisolated func failure(_ error: any Error) -> SyncFailure {
        if let failure = error as? SyncFailure { return failure }
        if let error = error as? RemoteError, error == .unauthorized { return .unauthorized }
        let duration = (error as? any RetryableError)?.retryAfter
        return .retryable(afterMicroseconds: duration.map { Int64(min(max(0, $0.seconds), 86_400) * 1_000_000) })
    }

    func didSavePush(through number: Int64) {}
}

// MARK: Writing

extension HubRemote {
    private struct Sent {
        let write: HubWrite
        /// Whether the write changes nothing that is sent, but still has a number.
        let isEmpty: Bool
    }

    private func outgoing(_ origins: [Int64]) async throws -> [Int64: OutgoingWrite] {
        let (writes, recent) = try await store.outgoingWrites(of: origins, since: since, rows: rows)
        rows = recent
        return writes
    }

    private func writes(_ writes: [Int64: OutgoingWrite], of origins: [Int64]) -> [Sent] {
        origins.compactMap { origin in
            writes[origin].map { write in
                Sent(
                    write: HubWrite(
                        origin: origin, document: DocumentID(entity: service.hubCollection, id: write.document),
                        operation: WriteOperation(write.operation), base: write.base,
                        isConditional: write.isConditional),
                    isEmpty: write.operation == .nothing)
            }
        }
    }

    private static func results(
        _ results: [NumberedResult], of writes: [Sent], from first: Int64, behind position: Int64
    ) -> [NumberedResult] {
        results.map { result in
            let index = Int(result.number - first)
            guard writes.indices.contains(index), writes[index].isEmpty, case .rejected = result.result else {
                return result
            }
            return NumberedResult(number: result.number, result: .applied(at: position))
        }
    }
}

extension WriteOperation {
    fileprivate init(_ operation: DocumentOperation) {
        self =
            switch operation {
            case .save(let fields): .save(fields.storageValues)
            case .patch(let patch): .patch(patch.mapValues { .text($0) })
            case .delete: .delete
            case .nothing: .patch([:])
            }
    }
}

// MARK: Receiving

extension HubRemote {
    func setListening(_ isListening: Bool) {
        guard isListening != self.isListening else { return }
        self.isListening = isListening
        snapshotEnd = nil
        if isListening { wake() } else { pull?.cancel() }
    }

    /// Fetches a document and makes the next page from it.
    ///
    /// - Throws: ``RemoteError/notFound`` if there is none.
    func fetch(_ id: String) async throws {
        let document = try await service.hubDocument(id)
        try await checkPath()
        fetched[ExactText(id)] = .waiting(
            RemoteChange(
                position: document.version, document: DocumentID(entity: store.table.entity, id: id),
                operation: .save(DocumentFields(document.fields).storageValues), ownOrigin: nil))
        pull?.cancel()
        wake()
    }

    /// Whether a fetched document may still arrive.
    func isComing(_ id: String) -> Bool {
        switch fetched[ExactText(id)] {
        case .waiting, .handedOut: true
        case .delivered, nil: false
        }
    }

    /// Records that a fetched document is no longer awaited.
    func forget(_ id: String) { fetched[ExactText(id)] = nil }

    /// The fetched documents as a page; nil if there are none.
    private func fetchedPage(at position: Int64) -> SyncPage? {
        var changes: [RemoteChange] = []
        var isAny = false
        for (id, state) in fetched {
            switch state {
            case .waiting(let change):
                isAny = true
                // The pulled version is newer, unless pages don't cover the document.
                let isFollowed = document.map { ExactText($0) == id } ?? true
                let isNew = change.position > position || !isFollowed
                if isNew { changes.append(change) }
                // If it was deleted meanwhile, no page names it: what ends there says that it is gone.
                if isNew, isFollowed { snapshotEnd = nil }
                fetched[id] = isNew ? .handedOut(change) : .delivered
            case .handedOut: fetched[id] = .delivered
            case .delivered: break
            }
        }
        return isAny ? SyncPage(start: position, end: position, changes: changes) : nil
    }

    private func page(behind position: Int64, on line: [UInt8]) async throws -> SyncPage {
        let nothing = SyncPage(start: position, end: position, changes: [])
        isSnapshotEndReturned = false
        if let page = fetchedPage(at: position) { return page }
        if !isListening {
            await waitForWork()
            if let page = fetchedPage(at: position) { return page }
            guard isListening else { return nothing }
        }
        // Everything is requested again.
        if let end = snapshotEnd, position < end { snapshotEnd = nil }
        // Pulls don't wait until everything is received that was there at the beginning.
        let request = request(behind: position, on: line, waits: snapshotEnd != nil)
        let service = service
        let task = Task { try await service.hub.pull(request, as: .full) }
        pull = task
        defer { if pull == task { pull = nil } }
        let page: SyncPage
        do {
            page = try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch _ where task.isCancelled && !Task.isCancelled {
            // Listening has ended, or a document was fetched.
            return fetchedPage(at: position) ?? nothing
        }
        // A pull of an earlier listener may have missed what was written since.
        guard isListening, !task.isCancelled, page.end == position, snapshotEnd == nil else { return local(page) }
        (snapshotEnd, isSnapshotEndReturned) = (position, true)
        guard position == 0 else { return SyncPage(start: position, end: position, changes: [], part: .last) }
        guard let document else { return SyncPage(start: position, end: position, changes: [], part: .only) }
        return SyncPage(start: position, end: position, changes: [deletion(of: document, at: 0)])
    }

    private func deletion(of document: String, at position: Int64) -> RemoteChange {
        RemoteChange(
            position: position, document: DocumentID(entity: store.table.entity, id: document), operation: .delete,
            ownOrigin: nil)
    }

    private func request(behind position: Int64, on line: [UInt8], waits: Bool) -> HubPull {
        var pull = HubPull(behind: position, of: [service.hubCollection])
        pull.line = line
        pull.producer = producer
        pull.document = document
        pull.wait = waits ? Self.longestPull : .zero
        return pull
    }

    /// Converts a page to the store's terms: the collection is the engine's entity.
    private func local(_ page: SyncPage) -> SyncPage {
        let entity = store.table.entity
        var changes = page.changes.map { change in
            RemoteChange(
                position: change.position, document: DocumentID(entity: entity, id: change.document.id),
                operation: change.operation, ownOrigin: change.ownOrigin, otherPosition: change.otherPosition)
        }
        let isFirst = page.start == 0 && page.end > 0
        if isFirst, let document, changes.isEmpty { changes.append(deletion(of: document, at: page.end)) }
        return SyncPage(
            start: page.start, end: page.end, changes: changes, part: isFirst && document == nil ? .first : .some)
    }

    private func waitForWork() async {
        let id = UUID()
        let alarm = Task { [weak self] in
            try await Task.sleep(for: Self.longestPull)
            await self?.wake(id)
        }
        defer { alarm.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { continuation.resume() } else { waiters[id] = continuation }
            }
        } onCancel: {
            Task { await self.wake(id) }
        }
    }

    private func wake(_ id: UUID) { waiters.removeValue(forKey: id)?.resume() }

    private func wake() {
        for waiter in waiters.values { waiter.resume() }
        waiters = [:]
    }
}

extension SyncStore {
    /// Identifies what is sent from a line of the store's history to this path, in up to 200 bytes.
    ///
    /// - Parameter generation: How often the engine has started over.
    fileprivate func hubProducer(line: [UInt8], generation: Int64) -> String {
        // The line makes it unique.
        let generation = generation > 0 ? "\u{0}\(generation)" : ""
        return "\(Hexadecimal.text(line))-\("\(manager)\u{0}\(path)\(generation)".utf8.fnv1a)"
    }
}
