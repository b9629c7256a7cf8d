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
    enum Input: Sendable {
        case core(SyncInput)
        /// The log may have grown; the continuation resumes once it was read.
        case committed(CheckedContinuation<Void, Never>?)
        /// A parked write is to be sent again or discarded, or the back-off to be ended.
        case decision(SyncInput, CheckedContinuation<Void, any Error>)
        /// The documents are to be put back in the store, if they were removed.
        case restore
        /// The documents are to be removed from the store.
        case clear(CheckedContinuation<Void, any Error>)
        /// Writes that the remote hasn't accepted are to be discarded.
        case discardPending(CheckedContinuation<Void, any Error>)
        /// It is time to retry after the store couldn't be used.
        case restart
    }

    enum Phase {
        case running(core: SyncCore, state: SyncStore<T>.State)
        /// The store couldn't be read or written.
        case failed(String)
        case stopped
    }

    let store: SyncStore<T>
    let remote: any SyncRemote
    private let configuration: SyncCore.Configuration
    private let clock: any StorageClock
    let publish: @Sendable (NumberedStatus) -> Void
    /// The documents that a new core follows.
    var followed: FollowedDocuments
    var statusCount = 0
    /// As of the last processed input: the saved state, not the one being saved.
    var settledStatus: SyncStatus
    /// The last status of a store that was closed: what was pending in it still is.
    var closedStatus: SyncStatus?
    var phase: Phase
    private var inputs: [Input] = []
    var isWorking = false
    var isListening = false
    var timer: Task<Void, Never>?
    private var requests: [SyncRequest.ID: Task<Void, Never>] = [:]
    private var commits: Task<Void, Never>?
    private var restarts = RetryDelay()
    private var generator = SystemRandomNumberGenerator()
    var lastError: String?
    /// Wait until the initial snapshot was received, or has failed.
    var listenWaiters: [CheckedContinuation<Void, Never>] = []
    /// Wait until the remote has returned something, or has failed to.
    var pullWaiters: [CheckedContinuation<Void, Never>] = []
    /// The number of received pages.
    var pageCount = 0
    /// The position up to which the remote was received and stored.
    var position: Int64 { if case .running(_, let state) = phase { state.row.record.position } else { 0 } }
    var writeWaiters: [WriteWaiter] = []
    /// Writes that were discarded since the driver began, for tasks that wait for them later.
    var discarded: Set<Int64> = []

    struct WriteWaiter {
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
            case .clear(let continuation), .discardPending(let continuation), .decision(_, let continuation):
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

    func add(_ input: Input) {
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
        // Announcing suspends, and what is waited for since then looks at nothing while it does.
        releaseWriteWaiters()
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
        case .decision(let decision, let continuation):
            do {
                try await carryOut(decision)
                continuation.resume()
            } catch {
                continuation.resume(throwing: error)
                throw error
            }
        }
    }

    /// Carries out a decision on what is saved: again if another driver has saved meanwhile, and at once if the store
    /// couldn't be used before.
    private func carryOut(_ decision: SyncInput) async throws {
        while true {
            if case .failed = phase { try await reload() }
            do {
                // A loaded core is offline: a retry would save nothing.
                try await step(.connected)
                guard case .running = phase else { throw CancellationError() }
                return try await step(decision)
            } catch is SyncStore<T>.Outdated {
                try await reload()
            }
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
        // Added in order and before anything else: the core ignores writes older than one it knows, and a task that waits for an unknown write would
        // consider it confirmed.
        if !found.isEmpty { try await step(.wrote(found)) }
    }

    /// Continues from what was saved last.
    func restart() async {
        do { try await reload() } catch { fail(error) }
    }

    private func reload() async throws {
        for request in requests.values { request.cancel() }
        requests = [:]
        setTimer(nil)
        guard let state = try await store.load() else { return stop() }
        if case .stopped = phase { return }
        phase = Self.begin(from: state, configuration: configuration, followed: followed)
        restarts = RetryDelay()
        // Comes before other pending inputs, which would otherwise reach an offline core.
        inputs.insert(.core(.connected), at: 0)
        add(.committed(nil))
    }

    private func fail(_ error: any Error) {
        if case .stopped = phase { return }
        phase = .failed((error as? StorageError)?.message ?? "\(error)")
        release(&pullWaiters)
        release(&listenWaiters)
        // A closed store stays closed, and its writes aren't sent.
        if let error = error as? StorageError, error.code == .closed {
            closedStatus = currentStatus
            return stop()
        }
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
