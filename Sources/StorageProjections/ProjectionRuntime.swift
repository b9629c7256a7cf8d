internal import Foundation
internal import GRDB
internal import StorageCore
package import StorageHistory
package import StorageLog
internal import Synchronization

/// Runs the projections of an open store: catches inline ones up when the store is opened, lets the others follow the
/// log, each in a task of its own, and executes calls such as pause and resume.
///
/// Isolation: `Sendable`, its state behind a mutex. Access to tables runs on the store's writer.
package final class ProjectionRuntime: Sendable {
    package let engine: StorageEngine
    package let upcasts: [String: Upcast]
    package let registrations: [String: ProjectionRegistration]
    let state = Mutex(State())

    struct State {
        var followers: [String: Follower] = [:]
        var reactions: [String: PendingReactions] = [:]
        /// Those that follow the log, and those that report what was applied.
        var following: [Task<Void, Never>] = []
        var notifying: [Task<Void, Never>] = []
        /// The position of each projection, and why it is stalled, if it is.
        var progress: [String: Progress] = [:]
        /// Incremented with every change of `progress`.
        var generation = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
        var isStopped = false
        /// The projections that are being folded in their files.
        var folding: Set<String> = []
    }

    struct Follower {
        let wake: AsyncStream<Void>.Continuation
    }

    struct Progress: Equatable {
        var position: Int64
        var stallReason: String?
    }

    /// Makes what is missing and catches inline projections up, on the calling thread: for opening.
    package init(
        _ engine: StorageEngine, _ registrations: [ProjectionRegistration], upcasts: [String: Upcast]
    ) throws {
        self.engine = engine
        self.upcasts = upcasts
        self.registrations = Dictionary(registrations.map { ($0.name, $0) }) { $1 }
        guard !registrations.isEmpty, !engine.configuration.isReadOnly else { return }
        var caughtUp: [(name: String, ranges: [AppliedRange])] = []
        try engine.withWriterNow { writer, db in
            guard let projections = writer.userProjections else { return }
            projections.upcasts = upcasts
            for registration in registrations { try projections.register(registration, on: writer, db) }
            for slot in projections.slots where slot.registration.mode == .inline {
                caughtUp.append((slot.name, try Self.catchUpNow(slot, of: projections, on: writer, db)))
            }
            projections.onCommit = { [weak self] head, emitted in self?.committed(head, emitted) }
        }
        for registration in registrations { start(registration) }
        for (name, ranges) in caughtUp { notify(name, ranges) }
    }

    deinit {
        state.withLock { state in
            for follower in state.followers.values { follower.wake.finish() }
            for reaction in state.reactions.values { reaction.finish() }
            for task in state.following + state.notifying { task.cancel() }
        }
    }

    /// Stops the tasks and waits for them. Reactions to what is committed already are finished first.
    package func stop() async {
        let following = state.withLock { state in
            state.isStopped = true
            for follower in state.followers.values { follower.wake.finish() }
            return state.following
        }
        for task in following { await task.value }
        // Waits for commits in progress. A store that has failed, or is read-only, has none.
        try? await engine.withWriter { _, _ in }
        // Only now: what is applied is reported when its transaction is over, and never again.
        let notifying = state.withLock { state in
            for reaction in state.reactions.values { reaction.finish() }
            return state.notifying
        }
        for task in notifying { await task.value }
        changed { _ in }
    }

    func start(_ registration: ProjectionRegistration) {
        let name = registration.name
        if let reacting = registration.projection as? any SideEffectingProjection {
            let reactions = PendingReactions(reacting)
            let task = Task { [engine] in await reactions.run(engine) }
            state.withLock { state in
                state.reactions[name] = reactions
                state.notifying.append(task)
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
            state.following.append(task)
        }
        continuation.yield()
    }

    func committed(_ head: Int64, _ emitted: [(name: String, ranges: [AppliedRange])]) {
        state.withLock { state in
            for (name, ranges) in emitted { state.reactions[name]?.add(ranges) }
            for (name, follower) in state.followers where (state.progress[name]?.position ?? 0) < head {
                follower.wake.yield()
            }
        }
    }

    func changed(_ body: (inout [String: Progress]) -> Void) {
        let waiting = state.withLock { state in
            body(&state.progress)
            state.generation += 1
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// - Parameter checkpoint: Nil if it can't be read; the next caller that needs it reports that.
    func note(_ name: String, _ checkpoint: Checkpoint?) {
        guard let checkpoint else { return }
        let stallReason = checkpoint.state == .running ? nil : checkpoint.error ?? "it is paused"
        changed { $0[name] = Progress(position: checkpoint.position, stallReason: stallReason) }
    }
}
