internal import Foundation
internal import GRDB
internal import StorageCore
package import StorageLog
internal import Synchronization

/// Keeps the projections of an open store going: catches inline ones up when the store is opened, follows the log with
/// the others, each in a task of its own, and does what is asked of them.
///
/// Isolation: `Sendable`, its state behind a mutex. What touches tables runs on the store's writer.
package final class ProjectionRuntime: Sendable {
    private let engine: StorageEngine
    private let registrations: [String: ProjectionRegistration]
    private let state = Mutex(State())

    private struct State {
        var followers: [String: Follower] = [:]
        var reactions: [String: AsyncStream<[StorageEvent]>.Continuation] = [:]
        var tasks: [Task<Void, Never>] = []
        /// How far each has come, and why it stands, where it does.
        var progress: [String: Progress] = [:]
        /// Goes up with every change of `progress`.
        var generation = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
        var isStopped = false
    }

    private struct Follower {
        let wake: AsyncStream<Void>.Continuation
    }

    private struct Progress: Equatable {
        var position: Int64
        var stands: String?
    }

    /// Makes what is missing and catches inline projections up, on the calling thread: for opening.
    package init(
        _ engine: StorageEngine, _ registrations: [ProjectionRegistration], upcasts: [String: Upcast]
    ) throws {
        self.engine = engine
        self.registrations = Dictionary(registrations.map { ($0.name, $0) }) { $1 }
        guard !registrations.isEmpty, !engine.configuration.isReadOnly else { return }
        try engine.withWriterNow { writer, db in
            guard let projections = writer.userProjections else { return }
            projections.upcasts = upcasts
            for registration in registrations { try projections.register(registration, writer, db) }
            for slot in projections.slots where slot.registration.mode == .inline {
                try Self.catchUpNow(slot, projections, writer, db)
            }
            projections.onCommit = { [weak self] head, told in self?.committed(head, told) }
        }
        for registration in registrations { start(registration) }
    }

    deinit {
        state.withLock { state in
            for follower in state.followers.values { follower.wake.finish() }
            for reaction in state.reactions.values { reaction.finish() }
            for task in state.tasks { task.cancel() }
        }
    }

    /// Stops the tasks and waits for them. Reactions to what is committed already are finished first.
    package func stop() async {
        let tasks = state.withLock { state in
            state.isStopped = true
            for follower in state.followers.values { follower.wake.finish() }
            for reaction in state.reactions.values { reaction.finish() }
            return state.tasks
        }
        for task in tasks { await task.value }
        changed { _ in }
    }

    private func start(_ registration: ProjectionRegistration) {
        let name = registration.name
        if let reacting = registration.projection as? any ReactingProjection {
            let (stream, continuation) = AsyncStream<[StorageEvent]>.makeStream()
            let task = Task { for await events in stream { await reacting.committed(events) } }
            state.withLock { state in
                state.reactions[name] = continuation
                state.tasks.append(task)
            }
        }
        guard registration.mode == .async else { return }
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task { [weak self] in
            for await _ in stream {
                guard let self else { return }
                await self.follow(registration)
            }
        }
        state.withLock { state in
            state.followers[name] = Follower(wake: continuation)
            state.tasks.append(task)
        }
        continuation.yield()
    }

    private func committed(_ head: Int64, _ told: [(name: String, events: [StorageEvent])]) {
        state.withLock { state in
            for (name, events) in told { state.reactions[name]?.yield(events) }
            for (name, follower) in state.followers where (state.progress[name]?.position ?? 0) < head {
                follower.wake.yield()
            }
        }
    }

    private func changed(_ body: (inout [String: Progress]) -> Void) {
        let waiting = state.withLock { state in
            body(&state.progress)
            state.generation += 1
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// - Parameter checkpoint: Nil where it can't be read, which whoever needs it next is told.
    private func note(_ name: String, _ checkpoint: Checkpoint?) {
        guard let checkpoint else { return }
        let stands = checkpoint.state == .running ? nil : checkpoint.error ?? "it is paused"
        changed { $0[name] = Progress(position: checkpoint.position, stands: stands) }
    }
}

// MARK: Following

extension ProjectionRuntime {
    /// Takes in what there is, until the end of the log or until it stands.
    private func follow(_ registration: ProjectionRegistration) async {
        let name = registration.name
        // Behind a batch that failed, commits are taken in one by one until it is passed.
        var singleThrough: Int64 = 0
        var attempts = 0
        var position: Int64 = 0
        while !state.withLock({ $0.isStopped }), !Task.isCancelled {
            let isSingle = position < singleThrough
            let limits = BatchLimits(
                events: registration.batchSize, slice: registration.batchSize, isSingle: isSingle)
            do {
                let outcome = try await onWriter(name) { projections, slot, writer, db in
                    try projections.step(slot, limits, writer, db)
                }
                guard let checkpoint = outcome.checkpoint else { return }
                let isDone = checkpoint.position >= engine.committed.position
                if checkpoint.position > position { attempts = 0 }
                position = checkpoint.position
                tell(name, outcome.told)
                if isDone || checkpoint.state != .running { return }
            } catch let failure as ApplyFailure {
                if !isSingle, singleThrough < failure.positions.upperBound {
                    singleThrough = failure.positions.upperBound
                    continue
                }
                do {
                    guard try await recover(registration, failure, &attempts) else { return }
                } catch {
                    return stand(name, error)
                }
            } catch {
                return stand(name, error)
            }
        }
    }

    /// - Returns: Whether it is to go on.
    private func recover(
        _ registration: ProjectionRegistration, _ failure: ApplyFailure, _ attempts: inout Int
    ) async throws -> Bool {
        let name = registration.name
        let isReplay = try await onWriter(name) { _, _, writer, _ in
            try failure.positions.lowerBound <= Checkpoint.load(name, writer.database)?.replayed ?? 0
        }
        let policy = isReplay ? registration.onReplayFailure : registration.onFailure
        attempts += 1
        if attempts <= policy.retries {
            try await wait(policy.delaySeconds * Double(1 << min(attempts - 1, 16)))
            return true
        }
        attempts = 0
        switch policy.outcome {
        case .pause:
            try await onWriter(name) { projections, _, writer, db in
                _ = try projections.change(name, writer, db) { $0.fail(failure) }
            }
            return false
        case .deadLetter:
            let outcome = try await onWriter(name) { projections, slot, writer, db in
                try projections.stepLayingAside(slot, writer, db)
            }
            tell(name, outcome.told)
            return true
        }
    }

    /// Waits before the next attempt, but not longer than the store is open.
    private func wait(_ seconds: Double) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end, !state.withLock({ $0.isStopped }) {
            try await Task.sleep(for: min(.milliseconds(20), end - ContinuousClock.now))
        }
    }

    /// The store itself is in trouble or closed; the projection goes on where it was when the store is opened again.
    private func stand(_ name: String, _ error: any Error) {
        changed { $0[name] = Progress(position: $0[name]?.position ?? 0, stands: "\(error)") }
    }

    private func tell(_ name: String, _ events: [StorageEvent]) {
        guard !events.isEmpty else { return }
        state.withLock { _ = $0.reactions[name]?.yield(events) }
    }

    /// Catches an inline projection up, and lets it be in step from then on; where it can't, it stands as failed.
    private static func catchUpNow(
        _ slot: UserProjections.Slot, _ projections: UserProjections, _ writer: LogWriter, _ db: GRDB.Database
    ) throws {
        let size = slot.registration.batchSize
        var singleThrough: Int64 = 0
        while let checkpoint = try Checkpoint.load(slot.name, writer.database), checkpoint.state == .running {
            guard checkpoint.position < writer.head.position else {
                slot.kept = nil
                slot.isInStep = true
                return
            }
            let isSingle = checkpoint.position < singleThrough
            do {
                let limits = BatchLimits(events: size, slice: size, isSingle: isSingle)
                _ = try projections.step(slot, limits, writer, db)
            } catch let failure as ApplyFailure {
                if !isSingle, singleThrough < failure.positions.upperBound {
                    singleThrough = failure.positions.upperBound
                    continue
                }
                let isReplay = failure.positions.lowerBound <= checkpoint.replayed
                let policy = isReplay ? slot.registration.onReplayFailure : slot.registration.onFailure
                if policy.outcome == .deadLetter {
                    _ = try projections.stepLayingAside(slot, writer, db)
                } else {
                    _ = try projections.change(slot.name, writer, db) { $0.fail(failure) }
                }
            }
        }
    }
}

// MARK: What is asked of them

extension ProjectionRuntime {
    private func onWriter<Value: Sendable>(
        _ name: String,
        _ body:
            @escaping @Sendable (UserProjections, UserProjections.Slot, LogWriter, GRDB.Database) throws -> Value
    ) async throws -> Value {
        try await engine.withWriter { writer, db in
            guard let projections = writer.userProjections, let slot = projections.slot(name) else {
                throw StorageError.noProjection(name)
            }
            // Noted here, on the writer, so that what is known is never older than what somebody else has just done.
            defer { self.note(name, try? Checkpoint.load(name, writer.database)) }
            return try body(projections, slot, writer, db)
        }
    }

    package func status() async throws -> [ProjectionStatus] {
        try await engine.read { db in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            return try ProjectionOverview.load(connection)
        }
    }

    package func pause(_ name: String) async throws {
        try await onWriter(name) { projections, slot, writer, db in
            _ = try projections.change(name, writer, db) { if $0.state == .running { $0.state = .paused } }
            slot.isInStep = false
        }
    }

    package func resume(_ name: String) async throws {
        let checkpoint = try await onWriter(name) { projections, slot, writer, db in
            let checkpoint = try projections.change(name, writer, db) { $0.resume() }
            guard slot.registration.mode == .inline, !slot.isInStep else { return checkpoint }
            try Self.catchUpNow(slot, projections, writer, db)
            return try Checkpoint.load(name, writer.database) ?? checkpoint
        }
        try checkRunning(name, checkpoint)
        wake(name)
    }

    package func reset(_ name: String) async throws {
        let checkpoint = try await onWriter(name) { projections, slot, writer, db in
            slot.isInStep = false
            try projections.reset(slot, writer, db)
            if slot.registration.mode == .inline { try Self.catchUpNow(slot, projections, writer, db) }
            return try Checkpoint.load(name, writer.database) ?? Checkpoint()
        }
        try checkRunning(name, checkpoint)
        wake(name)
    }

    package func rebuild(_ name: String) async throws {
        do {
            try await onWriter(name) { projections, slot, writer, db in
                try writer.group(db) { try projections.rebuild(slot, writer) }
                slot.isInStep = slot.registration.mode == .inline
            }
        } catch let failure as ApplyFailure {
            throw StorageError.projectionFailed(name, failure.positions, failure.cause)
        }
        wake(name)
    }

    package func deadLetters(_ name: String?) async throws -> [DeadLetter] {
        try await engine.read { db in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            return try DeadLetters.list(of: name, connection)
        }
    }

    package func replayDeadLetters(_ name: String) async throws -> Int {
        let (taken, told) = try await onWriter(name) { projections, slot, writer, db in
            try projections.replayDeadLetters(slot, writer, db)
        }
        tell(name, told)
        return taken
    }

    private func wake(_ name: String) { state.withLock { _ = $0.followers[name]?.wake.yield() } }

    private func checkRunning(_ name: String, _ checkpoint: Checkpoint) throws {
        guard checkpoint.state != .running else { return }
        throw StorageError(
            .projectionFailed,
            "The projection \(name) stands at @\(checkpoint.position): \(checkpoint.error ?? "paused").",
            remedy: "Correct it, then resume it again.")
    }

    /// Waits until every projection has taken in a position.
    ///
    /// - Throws: `projection-failed` where one of them stands before it.
    package func settled(_ names: [String], through position: Int64) async throws {
        for name in names where registrations[name] == nil { throw StorageError.noProjection(name) }
        guard registrations.isEmpty || !engine.configuration.isReadOnly else {
            throw StorageError(
                .readOnly,
                "The store was opened for reading only: its projections follow in the process that writes.",
                remedy: "Wait in that process, or compare the position in `storage.projections.status()`.")
        }
        let names = names.isEmpty ? registrations.values.filter { $0.mode == .async }.map(\.name) : names
        while true {
            try Task.checkCancellation()
            let (generation, progress, isStopped) = state.withLock { ($0.generation, $0.progress, $0.isStopped) }
            var isBehind = false
            for name in names where registrations[name]?.mode == .async {
                let reached = progress[name] ?? Progress(position: 0)
                if reached.position >= position { continue }
                if isStopped { throw StorageError.closed() }
                if let stands = reached.stands {
                    throw StorageError(
                        .projectionFailed, "The projection \(name) stands at @\(reached.position): \(stands)",
                        remedy: "See `storage.projections.status()`, correct the cause, then resume it.")
                }
                isBehind = true
            }
            guard isBehind else { return }
            await change(after: generation)
        }
    }

    /// Returns when anything has changed since, or the task is cancelled.
    private func change(after generation: Int) async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state in
                    guard state.generation == generation, !Task.isCancelled else { return true }
                    state.waiting[waiter] = continuation
                    return false
                }
                if isLate { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: waiter) }?.resume()
        }
    }
}

extension Checkpoint {
    fileprivate mutating func fail(_ failure: ApplyFailure) {
        state = .failed
        let known = StorageError.wrapping(failure.cause)
        error = (known as? StorageError)?.message ?? "\(known)"
        failed = failure.positions.lowerBound
    }

    package mutating func resume() {
        state = .running
        error = nil
        failed = nil
    }
}

extension LogWriter {
    package var userProjections: UserProjections? {
        for case let projections as UserProjections in projections { return projections }
        return nil
    }
}
