import CSQLite
import Foundation
import GRDB
import StorageCore
import Synchronization
import TestSupport
import Testing

@testable import StorageLog

/// Writes that share a transaction are commits of their own: each has its own outcome, metadata and place in the log.
@Suite struct GroupCommitTests {
    private static let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)"

    private func open(_ length: Int? = nil, clock: (any StorageClock)? = nil) async throws -> StorageEngine {
        let engine = try TestStore.inMemory(segmentLength: length, clock: clock)
        try await engine.adopt("t", Self.table)
        return engine
    }

    private func log(_ engine: StorageEngine) async throws -> [LoggedEvent] {
        try await engine.withWriter { writer, _ in
            try LogReader(writer.database).events().filter { $0.entity != CatalogEntity.catalog.id }
        }
    }

    private func faults(_ engine: StorageEngine) async throws -> [String] {
        try await engine.withWriter { writer, _ in
            var oracle = LogOracle()
            return try oracle.apply(LogReader(writer.database).events())
                + oracle.differences(writer.dump(), writer.catalog)
        }
    }

    /// Runs `writes` at once behind a commit that is held up, so that they meet in one group.
    private func together<Outcome: Sendable>(
        _ engine: StorageEngine, _ count: Int, _ write: @escaping @Sendable (Int) async throws -> Outcome
    ) async throws -> [Result<Outcome, any Error>] {
        let gate = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let held = Task {
            try await engine.commit(CommitMetadata(actor: "gate")) { _, _ in
                entry.finish()
                gate.wait()
            }
        }
        for await _ in entered {}
        let outcomes = await withTaskGroup(of: (Int, Result<Outcome, any Error>).self) { group in
            for index in 0..<count {
                group.addTask {
                    do { return (index, .success(try await write(index))) } catch { return (index, .failure(error)) }
                }
            }
            group.addTask {
                // Long enough for the others to queue; if some come later, they only share another group.
                try? await Task.sleep(for: .milliseconds(100))
                gate.signal()
                return (-1, .failure(CancellationError()))
            }
            var outcomes: [Int: Result<Outcome, any Error>] = [:]
            for await (index, outcome) in group where index >= 0 { outcomes[index] = outcome }
            return (0..<count).compactMap { outcomes[$0] }
        }
        _ = try await held.value
        return outcomes
    }

    private struct Refusal: Error {}

    @Test("Many writes at once", arguments: TestSettings.segmentLengths)
    func concurrentWrites(length: Int) async throws {
        let clock = ManualClock(5_000)
        let engine = try await open(length, clock: clock)
        let outcomes = try await together(engine, 250) { index in
            let task = Task {
                try await engine.commit(CommitMetadata(actor: "actor \(index)")) { _, db in
                    clock.microseconds = 10_000 - Int64(index)
                    try db.execute(
                        sql: "INSERT INTO t(id, v) VALUES (?, ?), (?, 1)", arguments: [index * 2, index, index * 2 + 1])
                    if index % 5 == 0 { throw Refusal() }
                }
            }
            if index % 7 == 3 { task.cancel() }
            return try await task.value
        }
        let events = try await log(engine)
        #expect(try await faults(engine) == [])
        for (index, outcome) in outcomes.enumerated() {
            let own = events.filter { $0.commit.metadata.actor == "actor \(index)" }
            switch outcome {
            case .success(let receipt):
                #expect(index % 5 != 0)
                #expect(own.map(\.position) == Array(receipt.first...receipt.last))
                #expect(own.allSatisfy { $0.commit.number == receipt.commit && $0.commit.time == receipt.time })
                #expect(own.map(\.key) == [[.integer(Int64(index * 2))], [.integer(Int64(index * 2 + 1))]])
            case .failure(let error):
                #expect(own.isEmpty)
                #expect((index % 5 == 0 && error is Refusal) || (index % 7 == 3 && error is CancellationError))
            }
        }
        #expect(outcomes.contains { if case .failure(let error) = $0 { error is CancellationError } else { false } })
        // Cancelled tasks and failures leave no number unused.
        let numbers = Array(Set(events.map(\.commit.number))).sorted()
        #expect(numbers == Array(2..<2 + Int64(numbers.count)))
        try await engine.seal()
        #expect(try await log(engine) == events)
    }

    @Test("Writes that queue while another program holds the lock fail together, not each after a wait of its own")
    func lockOfOtherProgram() async throws {
        let folder = try TemporaryFolder()
        var configuration = TestStore.configuration()
        configuration.busyTimeout = .milliseconds(500)
        let engine = try StorageEngine.open(path: folder.path(), configuration: configuration)
        try await engine.adopt("t", Self.table)
        let count = 120
        var unbound = GRDB.Configuration()
        unbound.allowsUnsafeTransactions = true
        // The store may still be sealing.
        unbound.busyMode = .timeout(60)
        let foreign = try DatabaseQueue(path: folder.path(), configuration: unbound)
        try await foreign.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let start = ContinuousClock.now
        let codes = await withTaskGroup(of: StorageError.Code?.self) { group in
            for number in 0..<count {
                group.addTask {
                    do {
                        try await engine.commit("INSERT INTO t(v) VALUES (\(number))")
                        return nil
                    } catch {
                        return (error as? StorageError)?.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let elapsed = ContinuousClock.now - start
        #expect(codes == Array(repeating: .busy, count: count))
        // A few groups, each of which waits once; a wait of each would take a minute.
        #expect(elapsed < .seconds(59))
        try await foreign.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try await engine.commit("INSERT INTO t(v) VALUES (1)")
        try foreign.close()
        try await engine.close()
    }

    @Test("Time never goes back with the clock")
    func clockGoingBack() async throws {
        let clock = ManualClock(9_000)
        let engine = try await open(clock: clock)
        let first = try await engine.commit("INSERT INTO t(v) VALUES (1)")
        clock.microseconds = 3
        let second = try await engine.commit("INSERT INTO t(v) VALUES (2)")
        clock.microseconds = 9_001
        let third = try await engine.commit("INSERT INTO t(v) VALUES (3)")
        #expect([first.time, second.time, third.time] == [9_000, 9_000, 9_001])
        let given = try await engine.commit(CommitMetadata(), at: -5) { _, db in try db.execute(sql: "DELETE FROM t") }
        #expect(given.time == 9_001)
    }

    /// What a write may do to the transaction that it shares.
    static let endings = [
        "COMMIT", "END", "ROLLBACK", "ROLLBACK; BEGIN", "ROLLBACK; BEGIN IMMEDIATE; INSERT INTO t(v) VALUES ('lost')",
        "ROLLBACK; INSERT INTO t(v) VALUES ('lost')", "COMMIT; BEGIN; INSERT INTO t(v) VALUES ('lost')",
        "RELEASE storage_commit",
        "ROLLBACK; SAVEPOINT storage_commit; INSERT INTO plain VALUES ('lost')", "ROLLBACK; CREATE TABLE lost(x)",
        "INSERT OR ROLLBACK INTO t(id, v) VALUES (1, 'taken')",
    ]

    @Test("A write that ends the transaction fails alone", arguments: endings, [false, true])
    func endingTheTransaction(sql: String, swallows: Bool) async throws {
        let engine = try await open()
        try await engine.commit("CREATE TABLE plain(x); INSERT INTO t(id, v) VALUES (1, 'first')")
        let before = try await log(engine)
        let outcomes = try await together(engine, 5) { index in
            try await engine.commit(CommitMetadata(actor: "\(index)", idempotencyKey: "key \(index)")) { _, db in
                if index != 2 {
                    // Tables that aren't entities have no log, but are part of the transaction all the same.
                    try db.execute(sql: "INSERT INTO plain VALUES (?)", arguments: [index])
                    if index > 2 { try db.execute(sql: "INSERT INTO t(id, v) VALUES (?, 0)", arguments: [index + 10]) }
                    return
                }
                for statement in sql.split(separator: ";") {
                    do {
                        try db.execute(sql: String(statement))
                    } catch {
                        if !swallows { throw error }
                    }
                }
            }
        }
        guard case .failure(let error) = outcomes[2] else {
            Issue.record("\(sql) was accepted")
            return
        }
        #expect((error as? StorageError)?.code == .invalidArgument, "\(error)")
        #expect(try await faults(engine) == [])
        #expect(try await engine.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'lost'") == 0)
        #expect(try await engine.integer("SELECT count(*) FROM t WHERE v = 'lost'") == 0)
        #expect(try await engine.integer("SELECT count(*) FROM plain WHERE x = 'lost'") == 0)
        // A neighbour is there wholly or not at all, as its outcome says.
        for (index, outcome) in outcomes.enumerated() where index != 2 {
            let isThere = (try? outcome.get()) != nil
            #expect(
                try await engine.integer("SELECT count(*) FROM plain WHERE x = \(index)") == (isThere ? 1 : 0),
                "\(index)")
            #expect(
                try await engine.integer("SELECT count(*) FROM storage_commit_key WHERE key = 'key \(index)'")
                    == (isThere ? 1 : 0))
        }
        #expect(try await engine.integer("SELECT count(*) FROM storage_commit_key WHERE key = 'key 2'") == 0)
        // The store works on.
        let next = try await engine.commit("INSERT INTO t(v) VALUES ('next')")
        #expect(next.commit != nil)
        #expect(try await log(engine).starts(with: before))
        #expect(try await faults(engine) == [])
    }

    @Test("A deferred foreign key fails only its own commit")
    func deferredForeignKey() async throws {
        let engine = try await open()
        try await engine.adopt(
            "c",
            """
            CREATE TABLE c(id INTEGER PRIMARY KEY, t REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED,
              _position INTEGER NOT NULL DEFAULT 0)
            """)
        let outcomes = try await together(engine, 3) { index in
            try await engine.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO c(id, t) VALUES (?, ?)", arguments: [index, index == 1 ? 99 : nil])
            }
        }
        #expect((try? outcomes[0].get()) != nil)
        #expect((try? outcomes[1].get()) == nil)
        #expect((try? outcomes[2].get()) != nil)
        #expect(try await faults(engine) == [])
        // Pointing ahead inside one commit is what deferring is for.
        try await engine.commit("INSERT INTO c(id, t) VALUES (5, 50); INSERT INTO t(id) VALUES (50)")
    }

    @Test("A key is used once")
    func keyIsUsedOnce() async throws {
        let engine = try await open()
        let key = CommitMetadata(idempotencyKey: "k")
        let first = try await engine.commit("INSERT INTO t(v) VALUES (1)", key)
        let again = try await engine.commit("INSERT INTO t(v) VALUES (2)", key)
        #expect(!first.isDuplicate)
        #expect(again.isDuplicate)
        #expect(
            [again.commit, again.first, again.last, again.time] == [first.commit, first.first, first.last, first.time])
        #expect(try await engine.integer("SELECT count(*) FROM t") == 1)

        let empty = CommitMetadata(idempotencyKey: "empty")
        let nothing = try await engine.commit("DELETE FROM t WHERE v = 'none'", empty)
        let repeated = try await engine.commit("DELETE FROM t", empty)
        #expect(nothing.commit == nil)
        #expect(repeated.commit == nil)
        #expect(repeated.isDuplicate)
        #expect(!nothing.isDuplicate)
        #expect(try await engine.integer("SELECT count(*) FROM t") == 1)

        // A write that failed hasn't used its key.
        let failing = CommitMetadata(idempotencyKey: "failing")
        await #expect(throws: StorageError.self) { try await engine.commit("INSERT INTO nowhere VALUES (1)", failing) }
        #expect(try await engine.commit("INSERT INTO t(v) VALUES (3)", failing).isDuplicate == false)
    }

    @Test("A key is used once in a group")
    func keyIsUsedOnceInGroup() async throws {
        let engine = try await open()
        let outcomes = try await together(engine, 60) { index in
            try await engine.commit(CommitMetadata(idempotencyKey: "k\(index % 3)")) { _, db in
                if index % 3 > 0 { try db.execute(sql: "INSERT INTO t(v) VALUES (?)", arguments: [index % 3]) }
            }
        }
        let receipts = try outcomes.map { try $0.get() }
        for key in 0..<3 {
            let own = receipts.enumerated().filter { $0.offset % 3 == key }.map(\.element)
            #expect(own.filter { !$0.isDuplicate }.count == 1)
            #expect(Set(own.map(\.last)).count == 1)
            #expect(Set(own.map(\.commit)).count == 1)
        }
        #expect(try await engine.integer("SELECT count(*) FROM t") == 2)
    }

    @Test("Metadata is kept byte for byte")
    func metadataIsByteExact() async throws {
        let engine = try await open()
        let all = [
            CommitMetadata(actor: "\u{E9}"), CommitMetadata(actor: "e\u{301}"), CommitMetadata(actor: ""),
            CommitMetadata(),
            CommitMetadata(
                actor: "a", app: "b", reason: "c", correlation: "d", idempotencyKey: "e",
                attributes: ["x": "\u{E9}", "": ""]),
            CommitMetadata(
                actor: "a", app: "b", reason: "c", correlation: "d", idempotencyKey: "f",
                attributes: ["x": "e\u{301}", "": ""]),
        ]
        // In one group, so that neighbours in a segment can be encoded as "the same as before".
        try await engine.withWriter { writer, db in
            try writer.group(db) {
                for metadata in all {
                    _ = try writer.commit(metadata) { try db.execute(sql: "INSERT INTO t(v) VALUES (1)") }
                }
            }
        }
        func bytes(_ metadata: CommitMetadata) -> [[UInt8]?] {
            [metadata.actor, metadata.app, metadata.reason, metadata.correlation, metadata.idempotencyKey].map {
                $0.map { Array($0.utf8) }
            }
                + metadata.attributes.sorted { $0.key < $1.key }.flatMap { [Array($0.key.utf8), Array($0.value.utf8)] }
        }
        for sealed in [false, true] {
            if sealed { try await engine.seal() }
            #expect(try await log(engine).map { bytes($0.commit.metadata) } == all.map(bytes))
        }
    }

    @Test("Metadata at its limits")
    func metadataLimits() async throws {
        let engine = try await open()
        let long = String(repeating: "x", count: Limits.metadataBytes)
        func attempt(_ metadata: CommitMetadata) async -> StorageError.Code? {
            await code { try await engine.commit("INSERT INTO t(v) VALUES (1)", metadata) }
        }
        let edge = CommitMetadata(
            actor: long, app: long, reason: long, correlation: long, idempotencyKey: long, attributes: [long: long])
        #expect(await attempt(edge) == nil)
        #expect(try await log(engine).last?.commit.metadata == edge)
        let many = Dictionary(uniqueKeysWithValues: (0..<Limits.attributes).map { ("name \($0)", "\($0)") })
        #expect(await attempt(CommitMetadata(attributes: many)) == nil)
        #expect(try await log(engine).last?.commit.metadata.attributes == many)

        let tooLong = long + "x"
        for metadata in [
            CommitMetadata(actor: tooLong), CommitMetadata(app: tooLong), CommitMetadata(reason: tooLong),
            CommitMetadata(correlation: tooLong), CommitMetadata(idempotencyKey: tooLong),
            CommitMetadata(attributes: [tooLong: ""]), CommitMetadata(attributes: ["": tooLong]),
            CommitMetadata(attributes: many.merging(["one more": ""]) { $1 }),
        ] {
            #expect(await attempt(metadata) == .limitExceeded)
        }
        for metadata in [
            CommitMetadata(actor: "a\0"), CommitMetadata(attributes: ["\0": ""]), CommitMetadata(idempotencyKey: "\0"),
        ] {
            #expect(await attempt(metadata) == .invalidValue)
        }
        #expect(try await engine.integer("SELECT count(*) FROM t") == 2)
    }

    // MARK: Between groups

    /// Commits each of which waits until the next is queued, so that one always waits when a group ends.
    private final class EndlessCommits: Sendable {
        private let engine: StorageEngine
        private let limit: Int
        private let state = Mutex((made: 0, isStopped: false))
        private let ended: AsyncStream<Void>.Continuation

        init(_ engine: StorageEngine, atMost limit: Int, ended: AsyncStream<Void>.Continuation) {
            self.engine = engine
            self.limit = limit
            self.ended = ended
        }

        var made: Int { state.withLock { $0.made } }

        /// - Returns: How many were made until then.
        func stop() -> Int {
            state.withLock { state in
                state.isStopped = true
                return state.made
            }
        }

        func queueNext() {
            Task {
                do { _ = try await engine.commit(CommitMetadata()) { try self.change($1) } } catch {
                    Issue.record(error)
                    ended.finish()
                }
            }
        }

        private func change(_ db: GRDB.Database) throws {
            try db.execute(sql: "INSERT INTO t(v) VALUES (1)")
            let goesOn = state.withLock { state in
                state.made += 1
                return !state.isStopped && state.made < limit
            }
            guard goesOn else { return ended.finish() }
            queueNext()
            while engine.waitingCommits == 0 { Thread.sleep(forTimeInterval: 0) }
        }
    }

    @Test("Others have the writer although commits never stop waiting")
    func writerDuringEndlessCommits() async throws {
        let engine = try await open()
        let limit = 20_000
        let (ends, end) = AsyncStream<Void>.makeStream()
        let commits = EndlessCommits(engine, atMost: limit, ended: end)
        commits.queueNext()
        while commits.made == 0 { await Task.yield() }
        let made = try await engine.withWriter { _, _ in commits.stop() }
        for await _ in ends {}
        #expect(made < limit)
        #expect(try await faults(engine) == [])
    }

    @Test("Closing completes the commits that wait, however many groups they are")
    func closingWhileCommitsWait() async throws {
        let engine = try await open()
        let gate = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let held = Task {
            try await engine.commit(CommitMetadata()) { _, _ in
                entry.finish()
                gate.wait()
            }
        }
        for await _ in entered {}
        let waiting = (0..<5).map { index in
            Task {
                try await engine.commit(CommitMetadata()) { _, db in
                    // Longer than a group lasts, so that each is a group.
                    Thread.sleep(forTimeInterval: 2 * Double(Limits.groupMicroseconds) / 1_000_000)
                    try db.execute(sql: "INSERT INTO t(v) VALUES (?)", arguments: [index])
                }
            }
        }
        while engine.waitingCommits < waiting.count { await Task.yield() }
        let (closings, closing) = AsyncStream<Void>.makeStream()
        let observation = engine.onClose { closing.finish() }
        let closed = Task { try await engine.close() }
        for await _ in closings {}
        gate.signal()
        _ = try await held.value
        for commit in waiting { #expect(try await commit.value.commit != nil) }
        try await closed.value
        observation.cancel()
        await #expect(throws: StorageError.self) { try await engine.commit("INSERT INTO t(v) VALUES (6)") }
    }
}
