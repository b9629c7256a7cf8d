internal import Foundation
internal import Synchronization

/// A transaction that an asynchronous body keeps open: the engine's thread waits in its own synchronous body and runs there
/// what the asynchronous one hands it.
///
/// Isolation: `Sendable`. The engine's thread is in ``serve(_:)``; the body's task is everywhere else.
package final class HeldTransaction: Sendable {
    package enum Kind: Sendable {
        case read
        case write
    }

    /// A part of the body that needs the connection.
    private typealias Job = @Sendable (SQLiteTransaction) -> Void

    private enum Ending {
        case commit
        case rollback(any Error)
    }

    private enum Event {
        /// The engine has opened a transaction and waits for work.
        case opened
        /// The engine's call is over.
        case returned(Result<Void, any Error>)
    }

    /// How far the engine's thread is; the jobs are what it has still to do, in order.
    private enum Stage {
        case closed
        case open([Job])
        case ending([Job], Ending)
    }

    private struct State {
        var stage = Stage.closed
        /// What the body's task has not received yet, or is waiting for.
        var events: [Event] = []
        var listener: CheckedContinuation<Event, Never>?
    }

    package let kind: Kind
    private let identity: SQLiteClient.Identity
    private let state = Mutex(State())
    /// Wakes the engine's thread. A semaphore, because a thread of the engine may wait where a task must not.
    private let work = DispatchSemaphore(value: 0)

    private init(_ kind: Kind, _ identity: SQLiteClient.Identity) {
        self.kind = kind
        self.identity = identity
    }

    @TaskLocal private static var held: [HeldTransaction] = []

    /// The transaction of this client that the task works in, if any.
    static func current(of identity: SQLiteClient.Identity) -> HeldTransaction? {
        held.last { $0.identity === identity }
    }
}

// MARK: The body's task

extension HeldTransaction {
    /// Runs a body while a client's engine keeps a transaction open for it.
    static func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ kind: Kind, of client: SQLiteClient,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        // Inside of another one of the same client: its transaction is used.
        if let outer = current(of: client.identity) {
            try outer.check(kind)
            return try await body()
        }
        let transaction = HeldTransaction(kind, client.identity)
        let engine = Task {
            let perform = kind == .read ? client.reading : client.writing
            do {
                try await perform { try transaction.serve($0) }
                transaction.report(.returned(.success(())))
            } catch {
                transaction.report(.returned(.failure(error)))
            }
        }
        var result: Result?
        while true {
            let event = await withTaskCancellationHandler {
                await transaction.nextEvent()
            } onCancel: {
                engine.cancel()
            }
            switch event {
            case .opened:
                // An engine that shares transactions may open another one, where the first was undone: the body runs again.
                do {
                    result = try await scoped(transaction, client, body)
                    transaction.end(.commit)
                } catch {
                    transaction.end(.rollback(error))
                }
            case .returned(let outcome):
                try outcome.get()
                guard let result else {
                    throw SQLiteClientError(
                        .misuse, "The client's engine has returned without running the body.",
                        remedy: "Let the closures of SQLiteClient call what they are given, or throw.")
                }
                return result
            }
        }
    }

    private static func scoped<Result>(
        isolation: isolated (any Actor)? = #isolation, _ transaction: HeldTransaction, _ client: SQLiteClient,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await $held.withValue(held + [transaction]) {
            try await withDependencies {
                $0.sqliteClient = client
                #if SQLITE_ENGINE_GRDB
                    $0.defaultDatabase = HeldDatabase(transaction)
                #endif
            } operation: {
                try await body()
            }
        }
    }

    /// Runs a part of the body on the engine's thread.
    package func run<Result: Sendable>(
        _ kind: Kind, _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
    ) async throws -> Result {
        try check(kind)
        return try await withCheckedThrowingContinuation { continuation in
            let isOpen = state.withLock {
                guard case .open(var jobs) = $0.stage else { return false }
                jobs.append { db in continuation.resume(with: Swift.Result { try body(db) }) }
                $0.stage = .open(jobs)
                return true
            }
            guard isOpen else {
                return continuation.resume(
                    throwing: SQLiteClientError(
                        .misuse, "The transaction that this belongs to is over.",
                        remedy: "Await everything that uses it before its body returns."))
            }
            work.signal()
        }
    }

    private func check(_ kind: Kind) throws {
        guard kind == .read || self.kind == .write else {
            throw SQLiteClientError(
                .readOnly, "A reading transaction can't change the database.",
                remedy: "Call `write` around it instead of `read`.")
        }
    }

    private func end(_ ending: Ending) {
        state.withLock { if case .open(let jobs) = $0.stage { $0.stage = .ending(jobs, ending) } }
        work.signal()
    }

    private func nextEvent() async -> Event {
        await withCheckedContinuation { continuation in
            let event: Event? = state.withLock {
                guard $0.events.isEmpty else { return $0.events.removeFirst() }
                $0.listener = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}

// MARK: The engine's thread

extension HeldTransaction {
    /// Runs what the body hands over until it ends.
    private func serve(_ db: SQLiteTransaction) throws {
        state.withLock { $0.stage = .open([]) }
        report(.opened)
        while true {
            work.wait()
            switch state.withLock({ next(&$0.stage) }) {
            case .job(let job): job(db)
            case .end(.commit): return
            case .end(.rollback(let error)): throw error
            }
        }
    }

    private enum Step {
        case job(Job)
        case end(Ending)
    }

    /// What the engine's thread was woken for: each job and the end wake it once.
    private func next(_ stage: inout Stage) -> Step {
        switch stage {
        case .open(var jobs):
            let job = jobs.removeFirst()
            stage = .open(jobs)
            return .job(job)
        case .ending(var jobs, let ending):
            guard !jobs.isEmpty else {
                stage = .closed
                return .end(ending)
            }
            let job = jobs.removeFirst()
            stage = .ending(jobs, ending)
            return .job(job)
        case .closed: preconditionFailure("The engine's thread waits only while the transaction is open.")
        }
    }

    private func report(_ event: Event) {
        let listener: CheckedContinuation<Event, Never>? = state.withLock {
            guard let listener = $0.listener else {
                $0.events.append(event)
                return nil
            }
            $0.listener = nil
            return listener
        }
        listener?.resume(returning: event)
    }
}
