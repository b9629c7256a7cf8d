internal import Foundation
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Waiting for a snapshot, a page or a write, and the driver's status.
extension SyncDriver {
    /// Starts listening to the remote.
    func startListening() async {
        isListening = true
        add(.restore)
        // First: what the core confirms without a page is then at the remote before a pull begins.
        follow(true)
        await remote.setListening(true)
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

    /// Sends a parked write again, or discards it, or retries now; returns once that is saved.
    ///
    /// - Throws: Errors of the store; `CancellationError` if the driver is stopped.
    func decide(_ decision: SyncInput) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if case .stopped = phase { return continuation.resume(throwing: CancellationError()) }
            add(.decision(decision, continuation))
        }
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

    /// Reports to the core what pages cover. For a service, everything that it accepts is known at once, whether anyone is
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

    func releaseWriteWaiters() {
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

    func failWriteWaiters(_ error: any Error, where isConcerned: (WriteWaiter) -> Bool) {
        writeWaiters.removeAll { waiter in
            guard isConcerned(waiter) else { return false }
            waiter.continuation.resume(throwing: error)
            return true
        }
    }

    /// Resumes the tasks that waited for the input.
    func announce(after input: Input) async {
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

    func release(_ waiters: inout [CheckedContinuation<Void, Never>]) {
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

    var currentStatus: SyncStatus {
        closedStatus ?? Self.status(in: phase, lastError: lastError, after: settledStatus)
    }

    /// - Parameter last: The status before, which has the counts if the store can't be read now.
    static func status(in phase: Phase, lastError: String?, after last: SyncStatus = SyncStatus()) -> SyncStatus {
        switch phase {
        case .stopped: return SyncStatus()
        case .failed(let message):
            var status = last
            status.connection = .failed(message)
            return status
        case .running(let core, let state):
            return SyncStatus(core, unreadable: state.unreadable, lastError: lastError)
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
