internal import Foundation
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Runs a core on a store and a remote: hands it what happens, and does what it wants done.
///
/// One after another: while an effect is carried out, what happens waits. Where a transaction can't be saved, the core is thrown
/// away, and another one goes on from what was saved last, as after a crash.
///
/// Isolation: an actor; requests run in tasks of their own.
actor SyncDriver<T: DataSyncModelProtocol> {
    private enum Input: Sendable {
        case core(SyncInput)
        /// The log may have grown; whoever waits for it goes on once it was looked at.
        case committed(CheckedContinuation<Void, Never>?)
        /// The documents are to be in the store again, where they were taken out.
        case restore
        /// The documents are to be taken out of the store.
        case clear(CheckedContinuation<Void, any Error>)
        /// What the remote hasn't taken is to be given up.
        case discardPending(CheckedContinuation<Void, any Error>)
        /// The time to try again has come, after the store couldn't be used.
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
    private let clock: any CommitClock
    private let publish: @Sendable (NumberedStatus) -> Void
    /// What a new core begins with.
    private var followed: FollowedDocuments
    private var statusCount = 0
    /// As of the last input that was handled: what is in the store, and not what is being saved.
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
    /// Those who wait until all is received that the remote had when it was listened to, or it has failed.
    private var listenWaiters: [CheckedContinuation<Void, Never>] = []
    /// Those who wait until the remote has told something, or has failed to.
    private var pullWaiters: [CheckedContinuation<Void, Never>] = []
    /// How many pages were received.
    private(set) var pageCount = 0
    /// How far the remote was received and stored.
    var position: Int64 { if case .running(_, let state) = phase { state.row.record.position } else { 0 } }
    private var writeWaiters: [WriteWaiter] = []
    /// Writes that were given up since the driver began, for whoever waits for them later.
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

    /// Begins to send and receive.
    func start() {
        guard commits == nil else { return }
        let bell = store.storage.engine.commitBell()
        commits = Task { [weak self] in
            for await _ in bell { await self?.add(.committed(nil)) }
        }
        add(.core(.connected))
        add(.committed(nil))
    }

    /// Ends it for good. What isn't saved hasn't happened.
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
        // Where it was held twice, the step would copy the whole outbox.
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
                guard !state.isOther else { throw SyncStore<T>.Outdated() }
            case .send(let request): send(request, knowing: core.record)
            case .setTimer(let time): setTimer(time)
            }
        }
        // In their order, and before anything else: the core takes none that is older than one it knows, and whoever waits for a write
        // that it doesn't know would take it for one that is confirmed.
        if !found.isEmpty { try await step(.wrote(found)) }
    }

    /// Goes on from what was saved last.
    private func restart() async {
        for request in requests.values { request.cancel() }
        requests = [:]
        setTimer(nil)
        do {
            guard let state = try await store.load() else { return stop() }
            if case .stopped = phase { return }
            phase = Self.begin(from: state, configuration: configuration, followed: followed)
            restarts = RetryDelay()
            // Before all that was asked for meanwhile, which else would be asked of a core that is offline.
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
    /// Begins to listen to the remote.
    func startListening() async {
        isListening = true
        add(.restore)
        await remote.setListening(true)
        follow(true)
        add(.core(.retryNow))
    }

    /// Returns once all is stored that the remote had when it was listened to, or it couldn't be reached, or isn't listened to any more.
    func waitForSnapshot() async {
        guard isListening else { return }
        await withCheckedContinuation { continuation in wait(continuation, in: &listenWaiters) }
    }

    /// Returns once the remote has told something more than so many pages.
    ///
    /// - Throws: ``RemoteError/unavailable(retryAfter:)`` where it couldn't.
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
        // Behind what was asked for before: what is waited for may have come already, or may not come.
        add(.committed(nil))
    }

    private var isReachable: Bool {
        if case .running(let core, _) = phase { core.connection.isReachable } else { false }
    }

    /// Takes the documents out of the store.
    func clear() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if case .stopped = phase { return continuation.resume(throwing: CancellationError()) }
            add(.clear(continuation))
        }
    }

    /// Gives up the writes that the remote hasn't taken.
    func discardPending() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if case .stopped = phase { return continuation.resume(throwing: CancellationError()) }
            add(.discardPending(continuation))
        }
    }

    /// Of a service, everything that it takes is known at once, whether somebody listens or not.
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

    /// Returns once the remote has taken the writes at these positions.
    ///
    /// - Throws: ``SyncWriteError`` where one of them is parked or discarded.
    func waitForWrites(at positions: ClosedRange<Int64>) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                if case .stopped = phase { return continuation.resume(throwing: CancellationError()) }
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                writeWaiters.append(WriteWaiter(id: id, positions: positions, continuation: continuation))
                // What is being handled may not be saved yet.
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

    /// Lets those go on who have waited for what has happened.
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
            // A request that wasn't answered in time.
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

    /// Why the core has halted; nil where it hasn't.
    var haltReason: SyncCore.HaltReason? {
        if case .running(let core, _) = phase, case .halted(let reason) = core.connection { reason } else { nil }
    }

    /// How it stands in the store.
    var status: NumberedStatus {
        statusCount += 1
        return NumberedStatus(number: statusCount, status: settledStatus)
    }

    /// How it stands once every write is counted that was committed before.
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
    /// Whether an answer can be waited for.
    fileprivate var isReachable: Bool {
        switch self {
        case .offline, .unauthorized, .halted: false
        case .closed, .handshake, .open: true
        }
    }
}
