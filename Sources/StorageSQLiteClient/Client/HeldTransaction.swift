internal import Foundation
internal import Synchronization

/// A transaction that stays open for an asynchronous body.
///
/// - An engine that lends its connection (``SQLiteClient/holding``) continues by itself. The thread of another engine
///   waits in its own synchronous body and runs the jobs that this transaction passes to it.
/// - A writing body inside another one of the same database is a savepoint, with a transaction of this type of its own.
///   Other tasks of the outer body wait until it is over, so that none of their work is rolled back with it.
///
/// Isolation: `Sendable`. The engine's thread is in ``serve(_:)``; the body's task is everywhere else.
package final class HeldTransaction: Sendable {
    package enum Kind: Sendable {
        case read
        case write
    }

    /// A part of the body that needs the connection.
    private typealias Job = @Sendable (SQLiteTransaction) -> Void

    private enum Ending: Sendable {
        case commit
        case rollback(any Error)
    }

    private enum Event {
        /// The engine has opened a transaction and waits for work.
        case opened
        /// The engine's call is over.
        case returned(Result<Void, any Error>)
    }

    /// The engine's progress; the jobs are waiting for its thread, in order.
    private enum Stage {
        case closed
        case served([Job])
        case ending(jobs: [Job], by: Ending)
        /// No thread waits: the engine's own asynchronous body does.
        case lent(any HeldConnection, lender: CheckedContinuation<Ending, Never>)
    }

    private struct State {
        var stage = Stage.closed
        /// Events that the body's task has not received yet.
        var events: [Event] = []
        var listener: CheckedContinuation<Event, Never>?
    }

    package let kind: Kind
    package let identity: SQLiteClient.Identity
    /// The dependencies of the task around the body.
    private let values = DependencyValues.current
    private let state = Mutex(State())
    /// Wakes the engine's thread. A semaphore, because a thread of the engine may wait where a task must not.
    private let work = DispatchSemaphore(value: 0)

    private init(_ kind: Kind, _ identity: SQLiteClient.Identity) {
        self.kind = kind
        self.identity = identity
    }

    /// The transactions of the task, outermost first.
    @TaskLocal private static var held: [HeldTransaction] = []

    /// The task whose body waits for an engine's task.
    @TaskLocal package static var caller: Int?
}

// MARK: The transaction of a task

extension HeldTransaction {
    /// The task's innermost transaction of this database, if any.
    package static func current(of identity: SQLiteClient.Identity) -> HeldTransaction? {
        held.last { $0.identity === identity }
    }

    /// Whether the task runs in a body that holds this database: its writer or, if readers count, one that reads.
    package static func isHolding(_ identity: SQLiteClient.Identity, countingReaders: Bool) -> Bool {
        held.contains { $0.identity === identity && (countingReaders || $0.kind == .write) && $0.isOpen }
    }

    /// Starts work that continues after the body is over, and doesn't take part in its transaction.
    static func outside<Result>(_ body: () -> Result) -> Result {
        guard let outermost = held.first else { return body() }
        return $held.withValue([]) { DependencyValues.$current.withValue(outermost.values, operation: body) }
    }

    /// The task's innermost transaction within this one, because nested bodies use the connection first.
    private var innermost: HeldTransaction {
        guard let index = Self.held.lastIndex(where: { $0 === self }) else { return self }
        return Self.held[index...].last { $0.identity === identity } ?? self
    }

    var isOpen: Bool {
        state.withLock { if case .closed = $0.stage { false } else { true } }
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
        let identity = client.identity()
        let outer = current(of: identity)
        if let outer {
            try outer.check(kind)
            // It reads in the enclosing transaction; there is nothing to roll back.
            if kind == .read { return try await body() }
        }
        let transaction = HeldTransaction(kind, identity)
        let engine = $caller.withValue(withUnsafeCurrentTask { $0?.hashValue }) {
            Task {
                do {
                    try await transaction.open(client, inside: outer)
                    transaction.report(.returned(.success(())))
                } catch {
                    transaction.report(.returned(.failure(error)))
                }
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
                // An engine that shares transactions may open another one after a rollback: the body runs again.
                do {
                    result = try await withTaskCancellationHandler {
                        try await transaction.scoped(client, body)
                    } onCancel: {
                        engine.cancel()
                    }
                    // The body may have ignored it, and not every engine checks.
                    try Task.checkCancellation()
                    transaction.end(.commit)
                } catch {
                    transaction.end(.rollback(error))
                }
            case .returned(let outcome):
                try outcome.get()
                guard let result else { throw SQLiteClientError.bodyDidNotRun }
                return result
            }
        }
    }

    private func scoped<Result>(
        isolation: isolated (any Actor)? = #isolation, _ client: SQLiteClient, _ body: () async throws -> Result
    ) async throws -> Result {
        let connection = lentConnection
        return try await Self.$held.withValue(Self.held + [self]) {
            try await withDependencies {
                $0.sqliteClient = client
                #if SQLITE_ENGINE_GRDB
                    $0.defaultDatabase = HeldDatabase(self)
                #endif
            } operation: {
                guard let connection else { return try await body() }
                return try await connection.scoped(isolation: isolation, body)
            }
        }
    }

    /// Runs a part of the body on its connection. If a writing part throws, only that part is rolled back.
    package func run<Result: Sendable>(
        _ kind: Kind, _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
    ) async throws -> Result {
        let innermost = innermost
        guard innermost === self else { return try await innermost.run(kind, body) }
        try check(kind)
        if let lentConnection { return try await lentConnection.run(body) }
        return try await withCheckedThrowingContinuation { continuation in
            let isOpen = state.withLock {
                guard case .served(var jobs) = $0.stage else { return false }
                jobs.append { db in
                    continuation.resume(
                        with: Swift.Result {
                            guard kind == .write else { return try body(db) }
                            return try db.savepoint { try body(db) }
                        })
                }
                $0.stage = .served(jobs)
                return true
            }
            guard isOpen else {
                return continuation.resume(
                    throwing: SQLiteClientError(
                        .invalidArgument, "The transaction that this belongs to is over.",
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
        let lender = state.withLock { state -> CheckedContinuation<Ending, Never>? in
            switch state.stage {
            case .served(let jobs): state.stage = .ending(jobs: jobs, by: ending)
            case .lent(_, let lender):
                state.stage = .closed
                return lender
            case .ending, .closed: break
            }
            return nil
        }
        if let lender { lender.resume(returning: ending) } else { work.signal() }
    }

    private var lentConnection: (any HeldConnection)? {
        state.withLock { if case .lent(let connection, _) = $0.stage { connection } else { nil } }
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

// MARK: The engine

extension HeldTransaction {
    /// Opens the transaction, and returns when it has ended.
    private func open(_ client: SQLiteClient, inside outer: HeldTransaction?) async throws {
        if let outer {
            if let connection = outer.lentConnection {
                try await connection.nested { try await self.lend($0) }
            } else {
                try await outer.run(.write) { try self.serve($0) }
            }
        } else if let holding = client.holding {
            try await holding(kind) { try await self.lend($0) }
        } else {
            let perform = kind == .read ? client.reading : client.writing
            try await perform { try self.serve($0) }
        }
    }

    /// Waits, without blocking a thread, until the body ends.
    private func lend(_ connection: any HeldConnection) async throws {
        let ending = await withCheckedContinuation { lender in
            state.withLock { $0.stage = .lent(connection, lender: lender) }
            report(.opened)
        }
        if case .rollback(let error) = ending { throw error }
    }

    /// Runs the body's jobs on the engine's thread until the body ends.
    private func serve(_ db: SQLiteTransaction) throws {
        state.withLock { $0.stage = .served([]) }
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

    /// The reason for waking the engine's thread: each job and the end wake it once.
    private func next(_ stage: inout Stage) -> Step {
        switch stage {
        case .served(var jobs):
            let job = jobs.removeFirst()
            stage = .served(jobs)
            return .job(job)
        case .ending(var jobs, let ending):
            guard !jobs.isEmpty else {
                stage = .closed
                return .end(ending)
            }
            let job = jobs.removeFirst()
            stage = .ending(jobs: jobs, by: ending)
            return .job(job)
        case .closed, .lent: preconditionFailure("The engine's thread waits only while the transaction is open.")
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
