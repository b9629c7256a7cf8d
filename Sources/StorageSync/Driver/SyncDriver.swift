internal import Foundation
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Runs a core on a store and a remote: passes it inputs and carries out its effects.
///
/// Inputs are processed one at a time and wait while an effect is carried out. If a transaction can't be saved, the
/// core is discarded, and a new one continues from what was saved last, as after a crash.
///
/// Isolation: an actor; requests run in tasks of their own.
actor SyncDriver<T: DataSyncModelProtocol> {
    private enum Input: Sendable {
        case core(SyncInput)
        /// The log may have grown; the continuation resumes once it was read.
        case committed(CheckedContinuation<Void, Never>?)
        /// The documents are to be put back in the store, if they were removed.
        case restore
        /// The documents are to be removed from the store.
        case clear(CheckedContinuation<Void, any Error>)
        /// Writes that the remote hasn't accepted are to be discarded.
        case discardPending(CheckedContinuation<Void, any Error>)
        /// It is time to retry after the store couldn't be used.
        case restart
    }

    private enum Phase {
        case running(core: SyncCore, state: SyncStore<T>.State)
        /// The store couldn't be read or written.
        case failed(String)
        case stopped
    }

    private let store: SyncStore<T>
    private let remote: any SyncRemote
    private let configuration: SyncCore.Configuration
    private let clock: any StorageClock
    private let publish: @Sendable (NumberedStatus) -> Void
    /// What a new core follows.
    private var followed: FollowedDocuments
    private var statusCount = 0
    /// As of the last processed input: the saved state, not the one being saved.
    private var settledStatus: SyncStatus
    private var phase: Phase
    private var inputs: [Input] = []
    private var isWorking = false
    private var isListening = false
    private var timer: Task<Void, Never>?
    private var requests: [SyncRequest.ID: Task<Void, Never>] = [:]
    private var commits: Task<Void, Never>?
    private var restarts = RetryDelay()
    private var generator = SystemRandomNumberGenerator()
    private var lastError: String?
    /// Wait until the initial snapshot was received, or has failed.
    private var listenWaiters: [CheckedContinuation<Void, Never>] = []
    /// Wait until the remote has returned something, or has failed to.
    private var pullWaiters: [CheckedContinuation<Void, Never>] = []
    /// The number of received pages.
    private(set) var pageCount = 0
    /// The position up to which the remote was received and stored.
    var position: Int64 { if case .running(_, let state) = phase { state.row.record.position } else { 0 } }
    private var writeWaiters: [WriteWaiter] = []
    /// Writes that were discarded since the driver began, for those who wait for them later.
    private var discarded: Set<Int64> = []

    private struct WriteWaiter {
        let id: UUID
        let positions: ClosedRange<Int64>
        let continuation: CheckedContinuation<Void, any Error>
    }

    init(
        store: SyncStore<T>, state: SyncStore<T>.State, remote: any SyncRemote,
        configuration: SyncCore.Configuration, followed: FollowedDocuments = FollowedDocuments(),
        publish: @escaping @Sendable (NumberedStatus) -> Void
    ) {
        self.followed = followed
        self.store = store
        self.remote = remote
        self.configuration = configuration
        self.publish = publish
        clock = store.storage.engine.configuration.clock
        phase = Self.begin(from: state, configuration: configuration, followed: followed)
        settledStatus = Self.status(in: phase, lastError: nil)
    }

    private static func begin(
        from state: SyncStore<T>.State, configuration: SyncCore.Configuration, followed: FollowedDocuments
    ) -> Phase {
        let core = SyncCore(
            record: state.row.record, outbox: Outbox(rows: state.rows), configuration: configuration, followed: followed
        )
        // The core has them.
        return .running(core: core, state: SyncStore<T>.State(row: state.row, unreadable: state.unreadable))
    }

    /// Starts sending and receiving.
    func start() {
        guard commits == nil else { return }
        let bell = store.storage.engine.commitBell()
        commits = Task { [weak self] in
            for await _ in bell { await self?.add(.committed(nil)) }
        }
        add(.core(.connected))
        add(.committed(nil))
    }

    /// Stops permanently. Anything that isn't saved is dropped.
    func stop() {
        phase = .stopped
        settledStatus = currentStatus
        for input in inputs {
            switch input {
            case .clear(let continuation), .discardPending(let continuation):
                continuation.resume(throwing: CancellationError())
            case .committed(let continuation): continuation?.resume()
            case .core, .restore, .restart: break
            }
        }
        inputs = []
        commits?.cancel()
        timer?.cancel()
        for request in requests.values { request.cancel() }
        requests = [:]
        Task { [remote] in await remote.setListening(false) }
        release(&pullWaiters)
        release(&listenWaiters)
        failWriteWaiters(CancellationError()) { _ in true }
    }
}

// MARK: Inputs

extension SyncDriver {
    func take(_ input: SyncInput) { add(.core(input)) }

    private func add(_ input: Input) {
        if case .stopped = phase {
            if case .committed(let continuation) = input { continuation?.resume() }
            return
        }
        inputs.append(input)
        guard !isWorking else { return }
        isWorking = true
        Task { await work() }
    }

    private func work() async {
        while !inputs.isEmpty {
            let input = inputs.removeFirst()
            do {
                try await handle(input)
            } catch is SyncStore<T>.Outdated {
                await restart()
            } catch {
                fail(error)
            }
            await announce(after: input)
        }
        isWorking = false
    }

    private func handle(_ input: Input) async throws {
        switch input {
        case .restart: await restart()
        case .core(.answer(.page(let page), let id)):
            guard case .running(let core, let state) = phase else { return }
            let known =
                core.outbox.pending.isEmpty ? page : try await store.markingEchoes(in: page, since: state.row.since)
            try await step(.answer(.page(known), to: id))
        case .core(.authorized):
            await remote.credentialsChanged()
            try await step(.authorized)
        case .core(let input): try await step(input)
        case .restore:
            guard case .running(_, let state) = phase, state.row.isCleared else { return }
            _ = try await store.activate(document: state.row.document)
            await restart()
        case .clear(let continuation):
            do {
                try await store.clear()
                await restart()
                continuation.resume()
            } catch {
                continuation.resume(throwing: error)
            }
        case .discardPending(let continuation):
            do {
                discarded.formUnion(try await store.discardPending())
                _ = try await store.activate()
                await restart()
                continuation.resume()
            } catch {
                continuation.resume(throwing: error)
            }
        case .committed:
            guard case .running(let core, let state) = phase else { return }
            let writes = try await store.written(since: state.row, behind: core.outbox.lastPosition)
            if !writes.isEmpty { try await step(.wrote(writes)) }
        }
    }

    private func step(_ input: SyncInput) async throws {
        guard case .running(var core, var state) = phase else { return }
        // A second reference would make the step copy the whole outbox.
        phase = .stopped
        let effects = core.step(input, at: clock.microseconds, using: &generator)
        phase = .running(core: core, state: state)
        var found: [PendingWrite] = []
        for effect in effects {
            switch effect {
            case .save(let transaction):
                state = try await store.save(transaction, after: state)
                guard case .running = phase else { return }
                phase = .running(core: core, state: state)
                if case .discard = input { discarded.formUnion(transaction.removed) }
                found += state.rows
                guard !state.needsNewCore else { throw SyncStore<T>.Outdated() }
            case .send(let request): send(request, knowing: core.record)
            case .setTimer(let time): setTimer(time)
            }
        }
        // Added in order and before anything else: the core ignores writes older than one it knows, and whoever waits
        // for an unknown write would consider it confirmed.
        if !found.isEmpty { try await step(.wrote(found)) }
    }

    /// Continues from what was saved last.
    private func restart() async {
        for request in requests.values { request.cancel() }
        requests = [:]
        setTimer(nil)
        do {
            guard let state = try await store.load() else { return stop() }
            if case .stopped = phase { return }
            phase = Self.begin(from: state, configuration: configuration, followed: followed)
            restarts = RetryDelay()
            // Comes before other pending inputs, which would otherwise reach an offline core.
            inputs.insert(.core(.connected), at: 0)
            add(.committed(nil))
        } catch {
            fail(error)
        }
    }

    private func fail(_ error: any Error) {
        if case .stopped = phase { return }
        phase = .failed((error as? StorageError)?.message ?? "\(error)")
        release(&pullWaiters)
        release(&listenWaiters)
        // A closed store stays closed.
        if let error = error as? StorageError, error.code == .closed { return stop() }
        let seconds = restarts.next()
        timer?.cancel()
        timer = Task { [weak self] in
            guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
            await self?.add(.restart)
        }
    }
}

// MARK: Effects

extension SyncDriver {
    private func send(_ request: SyncRequest, knowing record: SyncRecord) {
        if case .hello = request.kind {
            // The session that they belong to is over.
            for request in requests.values { request.cancel() }
            requests = [:]
        }
        requests[request.id] = Task { [weak self, remote] in
            do {
                let answer = try await remote.answer(request.kind, knowing: record)
                await self?.finish(request.id, with: .answer(answer, to: request.id))
            } catch is CancellationError where Task.isCancelled {
                return
            } catch {
                let failure = remote.failure(error)
                await self?.finish(request.id, with: .failure(failure, of: request.id), error: error)
            }
        }
    }

    private func finish(_ id: SyncRequest.ID, with input: SyncInput, error: (any Error)? = nil) {
        guard requests.removeValue(forKey: id) != nil else { return }
        lastError = error.map { ($0 as? StorageError)?.message ?? "\($0)" }
        add(.core(input))
    }

    private func setTimer(_ time: Int64?) {
        timer?.cancel()
        guard let time else { return }
        let microseconds = max(0, time - clock.microseconds)
        timer = Task { [weak self] in
            guard (try? await Task.sleep(for: .microseconds(microseconds))) != nil else { return }
            await self?.add(.core(.timer))
        }
    }
}

// MARK: Waiting

extension SyncDriver {
    /// Starts listening to the remote.
    func startListening() async {
        isListening = true
        add(.restore)
        await remote.setListening(true)
        follow(true)
        add(.core(.retryNow))
    }

    /// Returns once the initial snapshot is stored, the remote couldn't be reached, or listening was stopped.
    func waitForSnapshot() async {
        guard isListening else { return }
        await withCheckedContinuation { continuation in wait(continuation, in: &listenWaiters) }
    }

    /// Returns once the remote has returned more than a number of pages.
    ///
    /// - Throws: ``RemoteError/unavailable(retryAfter:)`` if it couldn't be reached.
    func waitForPage(after count: Int) async throws {
        guard pageCount <= count else { return }
        switch currentStatus.connection {
        case .connecting, .connected:
            await withCheckedContinuation { continuation in wait(continuation, in: &pullWaiters) }
        case .idle, .waiting, .unauthorized, .halted, .failed: break
        }
        guard pageCount > count else { throw RemoteError.unavailable() }
    }

    private func wait(
        _ continuation: CheckedContinuation<Void, Never>, in waiters: inout [CheckedContinuation<Void, Never>]
    ) {
        if case .stopped = phase { return continuation.resume() }
        waiters.append(continuation)
        // Processed after earlier inputs: what is waited for may have arrived already, or may never arrive.
        add(.committed(nil))
    }

    private var isReachable: Bool {
        if case .running(let core, _) = phase { core.connection.isReachable } else { false }
    }

    /// Removes the documents from the store.
    func clear() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if case .stopped = phase { return continuation.resume(throwing: CancellationError()) }
            add(.clear(continuation))
        }
    }

    /// Discards the writes that the remote hasn't accepted.
    func discardPending() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if case .stopped = phase { return continuation.resume(throwing: CancellationError()) }
            add(.discardPending(continuation))
        }
    }

    /// Tells the core what pages cover. For a service, everything that it accepts is known at once, whether anyone is
    /// listening or not.
    private func follow(_ isListening: Bool) {
        guard store.hasRemotePositions else { return }
        followed.isListening = isListening
        add(.core(.follow(followed)))
    }

    func stopListening() async {
        isListening = false
        await remote.setListening(false)
        follow(false)
        release(&listenWaiters)
    }

    /// Returns once the remote has accepted the writes at these positions.
    ///
    /// - Throws: ``SyncWriteError`` if one of them is parked or discarded.
    func waitForWrites(at positions: ClosedRange<Int64>) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                if case .stopped = phase { return continuation.resume(throwing: CancellationError()) }
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                writeWaiters.append(WriteWaiter(id: id, positions: positions, continuation: continuation))
                // What is being processed may not be saved yet.
                if !isWorking { releaseWriteWaiters() }
            }
        } onCancel: {
            Task { await self.giveUpWaiting(id) }
        }
    }

    private func releaseWriteWaiters() {
        guard case .running(let core, let state) = phase, !writeWaiters.isEmpty else { return }
        let known = max(core.outbox.lastPosition, state.row.scanned)
        writeWaiters.removeAll { waiter in
            guard known >= waiter.positions.upperBound else { return false }
            if !discarded.isEmpty, waiter.positions.contains(where: discarded.contains) {
                waiter.continuation.resume(throwing: SyncWriteError.discarded)
                return true
            }
            let writes = core.outbox.pending(at: waiter.positions)
            for write in writes {
                guard case .parked(let rejection) = write.state else { continue }
                waiter.continuation.resume(throwing: SyncWriteError.rejected(rejection.description))
                return true
            }
            guard writes.allSatisfy({ $0.remotePosition != nil }) else { return false }
            waiter.continuation.resume()
            return true
        }
    }

    private func giveUpWaiting(_ id: UUID) { failWriteWaiters(CancellationError()) { $0.id == id } }

    private func failWriteWaiters(_ error: any Error, where isConcerned: (WriteWaiter) -> Bool) {
        writeWaiters.removeAll { waiter in
            guard isConcerned(waiter) else { return false }
            waiter.continuation.resume(throwing: error)
            return true
        }
    }

    /// Resumes those who waited for the input.
    private func announce(after input: Input) async {
        settledStatus = currentStatus
        releaseWriteWaiters()
        publish(status)
        if case .committed(let continuation) = input { continuation?.resume() }
        switch input {
        case .core(.answer(.page, _)):
            pageCount += 1
            release(&pullWaiters)
        case .core(.answer(.pushed(let results), _)):
            await remote.didSavePush(through: results.last?.number ?? 0)
        case .core(.failure), .core(.disconnected), .restart:
            release(&pullWaiters)
            release(&listenWaiters)
        case .committed where !isReachable:
            release(&pullWaiters)
            release(&listenWaiters)
        case .core(.timer):
            // A request timed out.
            guard case .waiting = currentStatus.connection else { break }
            release(&pullWaiters)
            release(&listenWaiters)
        default: break
        }
        guard !listenWaiters.isEmpty, case .running(let core, _) = phase, let end = await remote.snapshotEnd else {
            return
        }
        if core.record.position >= end { release(&listenWaiters) }
    }

    private func release(_ waiters: inout [CheckedContinuation<Void, Never>]) {
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
    }

    /// Why the core has halted; nil if it hasn't.
    var haltReason: SyncCore.HaltReason? {
        if case .running(let core, _) = phase, case .halted(let reason) = core.connection { reason } else { nil }
    }

    /// The status according to the store.
    var status: NumberedStatus {
        statusCount += 1
        return NumberedStatus(number: statusCount, status: settledStatus)
    }

    /// The status once all earlier commits are counted.
    func statusOfCommits() async -> NumberedStatus {
        await withCheckedContinuation { add(.committed($0)) }
        return status
    }

    private var currentStatus: SyncStatus { Self.status(in: phase, lastError: lastError) }

    private static func status(in phase: Phase, lastError: String?) -> SyncStatus {
        switch phase {
        case .stopped: SyncStatus()
        case .failed(let message): SyncStatus(connection: .failed(message))
        case .running(let core, let state):
            SyncStatus(core, unreadable: state.unreadable, lastError: lastError)
        }
    }
}

extension SyncCore.Connection {
    /// Whether an answer can be expected.
    fileprivate var isReachable: Bool {
        switch self {
        case .offline, .unauthorized, .halted: false
        case .closed, .handshake, .open: true
        }
    }
}
