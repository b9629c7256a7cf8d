import Foundation
import GRDB
import ProcessTestSupport
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageProjections
import StorageTesting
import Synchronization
import Testing

/// Counts what it is handed, and throws where it is told to.
final class Tally: SideEffectingProjection {
    let name: String
    let version: Int
    let entities: [String]
    /// Positions that it can't take in.
    let poison = Mutex<Set<Int64>>([])
    let reactions = Mutex<[Int64]>([])
    let replays = Mutex<[Bool]>([])
    /// Called at the beginning of the next batch.
    let hold = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ name: String = "tally", version: Int = 1, entities: [String] = ["notes"], poison: Set<Int64> = []) {
        self.name = name
        self.version = version
        self.entities = entities
        self.poison.withLock { $0 = poison }
    }

    struct Poisoned: Error, CustomStringConvertible {
        let position: Int64
        var description: String { "poison at @\(position)" }
    }

    func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE \(name)(position INTEGER PRIMARY KEY, operation TEXT NOT NULL, key TEXT NOT NULL);
                CREATE INDEX \(name)_key ON \(name)(key);
                """)
    }

    func apply(_ batch: ProjectionBatch, _ db: Database) throws {
        replays.withLock { $0.append(batch.isReplay) }
        let hold = hold.withLock { hold in
            defer { hold = nil }
            return hold
        }
        hold?()
        for event in batch.events {
            try db.execute(
                sql: "INSERT INTO \(name) VALUES (?, ?, ?)",
                arguments: [event.position, event.operation.rawValue, "\(event.key[0].value)"])
            if poison.withLock({ $0.contains(event.position) }) { throw Poisoned(position: event.position) }
        }
    }

    func committed(_ events: [StorageEvent]) async { reactions.withLock { $0 += events.map(\.position) } }
}

/// Projections of users: what they are handed and when, what becomes of those that throw, and who may touch their tables.
struct ProjectionTests {
    private func store(
        _ projections: [any Projection], mode: ProjectionMode, onFailure: FailurePolicy = .pause,
        onReplayFailure: FailurePolicy? = nil, batchSize: Int = 1_000
    ) throws -> TemporaryStore {
        try TemporaryStore { schema in
            schema.autoSchema(NoteRecord.self, PersonRecord.self)
            for projection in projections {
                schema.addProjection(
                    projection, mode: mode, onFailure: onFailure, onReplayFailure: onReplayFailure ?? onFailure,
                    batchSize: batchSize)
            }
        }
    }

    private func tallied(_ storage: Storage, _ name: String = "tally") async throws -> [Int64] {
        try await storage.read { try Int64.fetchAll($0, sql: "SELECT position FROM \(name) ORDER BY position") }
    }

    private func positions(_ storage: Storage, _ table: String = "notes") async throws -> [Int64] {
        try await storage.allEvents().filter { $0.table == table }.map(\.position)
    }

    private func status(_ storage: Storage, _ name: String = "tally") async throws -> ProjectionStatus {
        try #require(try await storage.projections.status().first { $0.name == name })
    }

    private func settle(_ storage: Storage) async throws {
        try await storage.waitForProjections(through: try await storage.save(Note(id: -1, text: UUID().uuidString)))
    }

    /// Waits for a failure, which nobody else tells of.
    private func waitUntilFailed(_ storage: Storage, _ name: String = "tally") async throws {
        try await eventually { try await self.status(storage, name).state == .failed }
    }

    // MARK: Following

    @Test("An inline projection is part of the commit")
    func inlineIsPartOfCommit() async throws {
        let tally = Tally()
        let store = try store([tally], mode: .inline)
        try await store.storage.write { tx in
            try tx.save(Note(id: 1, text: "a"))
            try tx.save(Person(id: "p", name: "b", score: 1))
            try tx.save(Note(id: 1, text: "c"))
        }
        #expect(try await tallied(store.storage) == positions(store.storage))
        #expect(try await tallied(store.storage).count == 2)
        let status = try await status(store.storage)
        #expect(status.lag == 0)
        #expect(status.kind == "inline")
        #expect(status.events == 2)
        #expect(status.bytes > 0)
        #expect(try await store.storage.verify().isSound)
    }

    @Test("An inline projection that throws fails that commit only")
    func inlineFailureFailsOneCommit() async throws {
        let tally = Tally()
        let store = try store([tally], mode: .inline)
        let storage = store.storage
        try await storage.save(Note(id: 1, text: "a"))
        tally.poison.withLock { $0 = [storage.head + 1] }
        // Concurrent commits share a transaction: only the poisoned position fails.
        let error = await #expect(throws: StorageError.self) { try await storage.save(Note(id: 2, text: "b")) }
        #expect(error?.code == .projectionFailed)
        #expect(error?.message.contains("poison at") == true)
        tally.poison.withLock { $0 = [] }
        try await storage.save(Note(id: 3, text: "c"))
        #expect(try await storage.count(Note.self) == 2)
        #expect(try await tallied(storage) == positions(storage))
        try await storage.close()
        #expect(tally.reactions.withLock { $0 }.count == 2)
    }

    @Test("An async projection follows and can be waited for")
    func waitingForAsync() async throws {
        let tally = Tally()
        let store = try store([tally], mode: .async)
        for number in 0..<20 {
            let receipt = try await store.storage.save(Note(id: number, text: "n"))
            try await store.storage.waitForProjections(through: receipt)
            #expect(try await tallied(store.storage).last == receipt.position)
        }
        let status = try await status(store.storage)
        #expect(status.lag == 0)
        #expect(status.events == 20)
        #expect(status.kind == "async")
        #expect(status.secondsPerEvent ?? 0 > 0)
        #expect(try await store.storage.verify().isSound)
    }

    @Test(
        "What was written without the projection is applied after opening", arguments: [ProjectionMode.inline, .async])
    func catchesUpAfterOpening(mode: ProjectionMode) async throws {
        let store = try store([Tally()], mode: mode)
        try await store.storage.save(Note(id: 1, text: "a"))
        try await store.storage.close()
        // A program that doesn't know of the projection.
        let other = try StorageKit.start(at: store.url) { $0.autoSchema(NoteRecord.self) }.facade
        try await other.save(Note(id: 2, text: "b"))
        #expect(try await other.verify().isSound)
        let kept = try #require(try await other.projections.status().first)
        #expect(mode == .async || kept.lag > 0)
        try await other.close()
        try await store.reopen()
        try await settle(store.storage)
        #expect(try await tallied(store.storage) == positions(store.storage))
    }

    @Test("Another version is rebuilt from the log")
    func newVersionIsRebuilt() async throws {
        let store = try store([Tally()], mode: .inline)
        for number in 0..<5 { try await store.storage.save(Note(id: number, text: "a")) }
        try await store.storage.close()
        let again = Tally(version: 2, entities: ["persons"])
        let storage = try StorageKit.start(at: store.url) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.addProjection(again)
        }.facade
        #expect(try await tallied(storage) == [])
        try await storage.save(Person(id: "p", name: "b", score: 1))
        #expect(try await tallied(storage) == [storage.head])
        #expect(try await storage.verify().isSound)
        try await storage.close()
        let third = Tally(version: 3, entities: ["persons"])
        let raised = try StorageKit.start(at: store.url) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.addProjection(third)
        }.facade
        #expect(third.replays.withLock { $0 } == [true])
        #expect(try await status(raised).version == 3)
        try await raised.close()
        let without = try StorageKit.start(at: store.url) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.dropProjection("tally")
        }.facade
        #expect(try await without.projections.status().isEmpty)
        #expect(try await without.read { try $0.tableExists("tally") } == false)
        #expect(try await without.verify().isSound)
        try await without.close()
    }

    @Test("Side effects are for new events only")
    func sideEffectsOfNewEventsOnly() async throws {
        let before = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await before.storage.save(Note(id: 1, text: "old"))
        try await before.storage.close()
        for mode in [ProjectionMode.inline, .async] {
            let tally = Tally("tally_\(mode)")
            let storage = try StorageKit.start(at: before.url) {
                $0.autoSchema(NoteRecord.self)
                $0.addProjection(tally, mode: mode)
            }.facade
            let first = try await storage.save(Note(id: 2, text: "new \(mode)"))
            try await storage.waitForProjections(through: first)
            try await storage.projections.reset(tally.name)
            let second = try await storage.save(Note(id: 3, text: "newer \(mode)"))
            try await storage.waitForProjections(through: second)
            try await storage.projections.rebuild(tally.name)
            try await storage.rebuild()
            try await storage.close()
            #expect(tally.reactions.withLock { $0 } == [first.position, second.position], "\(mode)")
            #expect(tally.replays.withLock { $0.contains(true) && $0.contains(false) })
        }
    }

    @Test("A paused projection stays paused after reopening")
    func pauseSurvivesReopening() async throws {
        for mode in [ProjectionMode.inline, .async] {
            let store = try store([Tally()], mode: mode)
            try await settle(store.storage)
            try await store.storage.projections.pause("tally")
            try await store.storage.save(Note(id: 1, text: "a"))
            try await store.reopen()
            try await store.storage.save(Note(id: 2, text: "b"))
            let paused = try await status(store.storage)
            #expect(paused.state == .paused, "\(mode)")
            #expect(paused.lag == 2, "\(mode)")
            #expect(paused.events == 1, "\(mode)")
            if mode == .async {
                await #expect(throws: StorageError.self) { try await settle(store.storage) }
            }
            try await store.storage.projections.resume("tally")
            try await settle(store.storage)
            #expect(try await tallied(store.storage) == positions(store.storage), "\(mode)")
        }
    }

    // MARK: Throwing

    @Test("A projection that throws pauses alone and resumes after a fix")
    func failurePausesOneProjection() async throws {
        let bad = Tally("bad")
        let good = Tally("good")
        let store = try store([bad, good], mode: .async)
        let storage = store.storage
        let first = storage.head + 1
        let poisoned = first + 7
        bad.poison.withLock { $0 = [poisoned] }
        // One transaction at a time, so that the poison lies amid a batch when it catches up.
        try await storage.projections.pause("bad")
        for number in 0..<20 { try await storage.save(Note(id: number, text: "n")) }
        try await storage.projections.resume("bad")
        try await waitUntilFailed(storage, "bad")
        let failed = try await status(storage, "bad")
        #expect(failed.position == poisoned - 1)
        #expect(failed.failedPosition == poisoned)
        #expect(failed.error?.contains("poison at @\(poisoned)") == true)
        #expect(try await tallied(storage, "bad") == Array(first..<poisoned))
        try await storage.waitForProjections(through: try await storage.save(Note(id: 99, text: "n")), of: "good")
        #expect(try await tallied(storage, "good") == positions(storage))
        let error = await #expect(throws: StorageError.self) { try await settle(storage) }
        #expect(error?.code == .projectionFailed)
        bad.poison.withLock { $0 = [] }
        try await storage.projections.resume("bad")
        try await settle(storage)
        #expect(try await tallied(storage, "bad") == positions(storage))
        #expect(try await status(storage, "bad").error == nil)
    }

    @Test("Retries come before the pause")
    func retriesBeforePausing() async throws {
        let tally = Tally()
        let store = try store([tally], mode: .async, onFailure: .retry(1_000_000, delay: .milliseconds(1)))
        let storage = store.storage
        tally.poison.withLock { $0 = [storage.head + 1] }
        let receipt = try await storage.save(Note(id: 1, text: "a"))
        // Time for many retries, of which none may pause it.
        try await Task.sleep(for: .milliseconds(30))
        #expect(try await status(storage).state == .running)
        tally.poison.withLock { $0 = [] }
        try await storage.waitForProjections(through: receipt)
        #expect(try await tallied(storage) == [receipt.position])
    }

    /// A store whose projection couldn't take in the second of some saves.
    private func storeWithDeadLetters(onReplayFailure: FailurePolicy = .deadLetter) async throws -> (
        store: TemporaryStore, tally: Tally, poisoned: Int64, receipts: [CommitReceipt]
    ) {
        let tally = Tally()
        let store = try store([tally], mode: .async, onFailure: .deadLetter, onReplayFailure: onReplayFailure)
        let poisoned = store.storage.head + 3
        tally.poison.withLock { $0 = [poisoned] }
        let receipts = try await withSequentialSaves(store.storage)
        try await store.storage.waitForProjections(through: receipts[receipts.count - 1])
        return (store, tally, poisoned, receipts)
    }

    @Test("A failed rebuild keeps the dead letters")
    func failedRebuildKeepsDeadLetters() async throws {
        let (store, _, _, _) = try await storeWithDeadLetters(onReplayFailure: .pause)
        let storage = store.storage
        let before = try await storage.projections.deadLetters("tally").map(\.position)
        try #require(before.count == 2)
        await #expect(throws: StorageError.self) { try await storage.projections.rebuild("tally") }
        let receipt = try await storage.save(Note(id: 2, text: "later"))
        try await storage.waitForProjections(through: receipt)
        #expect(try await storage.projections.deadLetters("tally").map(\.position) == before + [receipt.position])
        #expect(try await !tallied(storage).contains(receipt.position))
    }

    /// New events fail their commit or stop it; those of a rebuild go by the other policy.
    @Test("History has a policy of its own", arguments: [ProjectionMode.inline, .async])
    func replayPolicy(mode: ProjectionMode) async throws {
        let tally = Tally()
        let store = try store([tally], mode: mode, onReplayFailure: .deadLetter, batchSize: 3)
        let storage = store.storage
        let receipts = try await withSequentialSaves(storage)
        try await storage.waitForProjections(through: receipts[receipts.count - 1])
        let all = try await positions(storage)
        tally.poison.withLock { $0 = [all[1]] }
        for round in 0..<2 {
            if round == 0 { try await storage.projections.rebuild("tally") } else { try await storage.rebuild() }
            if mode == .async, round == 1 { break }
            let letters = try await storage.projections.deadLetters("tally").map(\.position)
            #expect(letters.first == all[1])
            #expect(try await tallied(storage) == all.filter { !letters.contains($0) })
            #expect(try await status(storage).state == .running)
        }
        tally.poison.withLock { $0 = [] }
        let letters = try await storage.projections.deadLetters("tally").count
        #expect(try await storage.projections.replayDeadLetters("tally") == letters)
        #expect(try await tallied(storage) == all)
        // What is new goes by the policy for what is new.
        tally.poison.withLock { $0 = [storage.head + 1] }
        do {
            try await storage.waitForProjections(through: storage.save(Note(id: 70, text: "x")))
            Issue.record("nobody minded")
        } catch let error as StorageError { #expect(error.code == .projectionFailed) }
        #expect(try await storage.projections.deadLetters("tally").isEmpty)
        tally.poison.withLock { $0 = [] }
    }

    @Test("Catching up within a commit is retried as well")
    func catchUpInCommitRetries() async throws {
        let tally = Tally()
        let store = try store([tally], mode: .inline, onFailure: .retry(3, delay: .seconds(10)))
        let storage = store.storage
        try await storage.projections.pause("tally")
        let receipt = try await storage.save(Note(id: 1, text: "a"))
        tally.poison.withLock { $0 = [receipt.position] }
        await #expect(throws: StorageError.self) { try await storage.projections.resume("tally") }
        // Once with the batch, once alone, and then three times more.
        #expect(tally.replays.withLock { $0.count } == 5)
        #expect(try await status(storage).state == .failed)
        tally.poison.withLock { $0 = [] }
        try await storage.projections.resume("tally")
        #expect(try await tallied(storage) == [receipt.position])
    }

    /// What came while it stood is told when it is taken in, whichever way that is.
    @Test("Side effects of a pause run when its events are applied", arguments: [ProjectionMode.inline, .async])
    func effectsAfterPause(mode: ProjectionMode) async throws {
        let tally = Tally()
        let store = try store([tally], mode: mode)
        var storage = store.storage
        var expected: [Int64] = []
        func save(_ id: Int) async throws { expected.append(try await storage.save(Note(id: id, text: "n")).position) }
        try await save(1)
        try await storage.waitForProjections(through: CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0))
        try await storage.projections.pause("tally")
        try await save(2)
        try await storage.projections.resume("tally")
        try await storage.waitForProjections(through: CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0))
        try await storage.projections.pause("tally")
        try await save(3)
        try await save(4)
        try await storage.projections.rebuild("tally")
        #expect(try await status(storage).state == .running)
        #expect(try await tallied(storage) == expected)
        try await storage.close()
        #expect(tally.reactions.withLock { $0 } == expected)
        // Somebody else writes without it.
        let without = try StorageKit.start(at: store.url) { $0.autoSchema(NoteRecord.self, PersonRecord.self) }.facade
        expected = [try await without.save(Note(id: 5, text: "n")).position]
        try await without.close()
        let again = Tally()
        storage = try StorageKit.start(at: store.url) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.addProjection(again, mode: mode)
        }.facade
        try await storage.waitForProjections(through: CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0))
        #expect(try await tallied(storage).last == expected[0])
        try await storage.close()
        #expect(again.reactions.withLock { $0 } == expected)
    }

    /// What was under way when the store was closed is told as well: nobody would tell it later.
    @Test("Side effects that are under way at closing run", arguments: [ProjectionMode.inline, .async])
    func effectsDuringClose(mode: ProjectionMode) async throws {
        let tally = Tally()
        let store = try store([tally], mode: mode)
        let storage = store.storage
        let hasBegun = Mutex(false)
        let goOn = DispatchSemaphore(value: 0)
        tally.hold.withLock { hold in
            hold = {
                hasBegun.withLock { $0 = true }
                goOn.wait()
            }
        }
        let saving = Task { try await storage.save(Note(id: 1, text: "n")) }
        try await eventually { hasBegun.withLock { $0 } }
        let closing = Task { try await storage.close() }
        // As far as it comes while the batch is held.
        try await Task.sleep(for: .milliseconds(100))
        goOn.signal()
        let position = try await saving.value.position
        try await closing.value
        #expect(tally.reactions.withLock { $0 } == [position])
    }

    /// A log row may reach beyond the position up to which a projection is made again.
    @Test(
        "A projection that is behind is rebuilt up to its checkpoint", arguments: [ProjectionMode.inline, .async],
        [3, 1_000])
    func partialRebuild(mode: ProjectionMode, batchSize: Int) async throws {
        let projection = try SQLProjection(
            name: "words",
            sql: """
                CREATE TABLE words(n INTEGER PRIMARY KEY AUTOINCREMENT, text);
                -- on insert, update of notes
                INSERT INTO words(text) VALUES (:new_text);
                """)
        for isReset in [false, true] {
            let tally = Tally()
            let store = try TemporaryStore { schema in
                schema.autoSchema(NoteRecord.self)
                schema.addProjection(projection, mode: mode, batchSize: batchSize)
                schema.addProjection(tally, mode: mode, batchSize: batchSize)
            }
            let storage = store.storage
            func end() -> CommitReceipt { CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0) }
            for id in 0..<10 { try await storage.save(Note(id: id, text: "n\(id)")) }
            try await storage.waitForProjections(through: end())
            if isReset { for name in ["words", "tally"] { try await storage.projections.reset(name) } }
            try await storage.waitForProjections(through: end())
            for name in ["words", "tally"] { try await storage.projections.pause(name) }
            for id in 10..<20 { try await storage.save(Note(id: id, text: "n\(id)")) }
            // One row of the log holds what it has and what it hasn't taken in.
            try await storage.seal()
            for name in ["words", "tally"] { try await storage.projections.rebuild(name) }
            let texts = try await storage.read { try String.fetchAll($0, sql: "SELECT text FROM words ORDER BY n") }
            #expect(texts == (0..<20).map { "n\($0)" })
            #expect(try await tallied(storage) == positions(storage))
            let all = try await positions(storage)
            try await storage.close()
            #expect(tally.reactions.withLock { $0 } == all)
        }
    }

    @Test("Several projections are rebuilt at the same time")
    func concurrentRebuilds() async throws {
        let tallies = (0..<3).map { Tally("tally_\($0)") }
        let store = try store(tallies, mode: .inline)
        let storage = store.storage
        _ = try await withSequentialSaves(storage)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for tally in tallies { group.addTask { try await storage.projections.rebuild(tally.name) } }
            group.addTask { for id in 200..<230 { try await storage.save(Note(id: id, text: "meanwhile")) } }
            try await group.waitForAll()
        }
        for tally in tallies { #expect(try await tallied(storage, tally.name) == positions(storage)) }
        #expect(try await storage.verify().isSound)
    }

    /// Where an inline projection can't take in the history again, a rebuild of the tables says so and changes nothing.
    @Test("A projection that throws leaves a rebuild of tables undone")
    func failureUndoesTableRebuild() async throws {
        let (tally, other) = (Tally(), Tally("other"))
        let store = try store([tally, other], mode: .inline)
        let storage = store.storage
        _ = try await withSequentialSaves(storage)
        let before = try await tallied(storage)
        tally.poison.withLock { $0 = [before[1]] }
        let error = await #expect(throws: StorageError.self) { try await storage.rebuild() }
        #expect(error?.code == .projectionFailed)
        #expect(error?.message.contains("tally") ?? false)
        for name in ["tally", "other"] { #expect(try await tallied(storage, name) == before) }
        tally.poison.withLock { $0 = [] }
        try await storage.save(Note(id: 77, text: "later"))
        for name in ["tally", "other"] { #expect(try await tallied(storage, name) == positions(storage)) }
        try await storage.rebuild()
        for name in ["tally", "other"] { #expect(try await tallied(storage, name) == positions(storage)) }
        #expect(try await storage.verify().isSound)
    }

    @Test("Waiting for a paused projection throws")
    func waitingForPaused() async throws {
        let store = try store([Tally()], mode: .inline)
        let storage = store.storage
        let first = try await storage.save(Note(id: 1, text: "one"))
        try await storage.waitForProjections(through: first, of: "tally")
        try await storage.projections.pause("tally")
        let second = try await storage.save(Note(id: 2, text: "two"))
        let error = await #expect(throws: StorageError.self) {
            try await storage.waitForProjections(through: second, of: "tally")
        }
        #expect(error?.code == .projectionFailed)
        try await storage.projections.resume("tally")
        try await storage.waitForProjections(through: second, of: "tally")
    }

    /// Tables that refer to each other, row by row.
    struct Invoices: Projection {
        let name = "invoices"
        let version = 1
        let entities = ["notes"]

        func prepare(_ db: Database) throws {
            try db.execute(
                sql: """
                    CREATE TABLE invoice(id INTEGER PRIMARY KEY);
                    CREATE TABLE invoice_line(id INTEGER PRIMARY KEY REFERENCES invoice(id));
                    """)
        }

        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            for event in batch.events {
                try db.execute(sql: "INSERT INTO invoice VALUES (?)", arguments: [event.position])
                try db.execute(sql: "INSERT INTO invoice_line VALUES (?)", arguments: [event.position])
            }
        }
    }

    @Test("Tables that refer to each other are rebuilt", arguments: [ProjectionMode.inline, .async])
    func mutuallyReferringTables(mode: ProjectionMode) async throws {
        let store = try store([Invoices()], mode: mode)
        let storage = store.storage
        let receipts = try await withSequentialSaves(storage)
        let last = receipts[receipts.count - 1]
        try await storage.waitForProjections(through: last)
        let expected = try await positions(storage)
        func lines() async throws -> [Int64] {
            try await storage.read { try Int64.fetchAll($0, sql: "SELECT id FROM invoice_line ORDER BY id") }
        }
        #expect(try await lines() == expected)
        try await storage.projections.rebuild("invoices")
        #expect(try await lines() == expected)
        try await storage.projections.reset("invoices")
        try await storage.waitForProjections(through: last)
        #expect(try await lines() == expected)
        #expect(try await storage.verify().isSound)
    }

    @Test("Dead letters lose nothing and keep each row's order")
    func deadLettersKeepRowOrder() async throws {
        let (store, tally, poisoned, receipts) = try await storeWithDeadLetters()
        let storage = store.storage
        // Row 2 was poisoned: its later change waits, in its order; row 1's goes on.
        let letters = try await storage.projections.deadLetters("tally")
        let ofTheRow = try await storage.history(Note.self, id: 2).map(\.position)
        try #require(letters.map(\.position) == ofTheRow)
        #expect(letters[0].error.contains("poison"))
        #expect(letters[1].error.contains("waits behind @\(poisoned)"))
        #expect(letters[1].event.operation == .update)
        #expect(letters[1].event.table == "notes")
        #expect(try await tallied(storage) == positions(storage).filter { !ofTheRow.contains($0) })
        #expect(try await status(storage).deadLetters == 2)
        #expect(try await storage.verify().isSound)
        // It fails again: nothing is lost.
        #expect(try await storage.projections.replayDeadLetters("tally") == 0)
        #expect(try await storage.projections.deadLetters().map(\.attempts) == [2, 0])
        try await store.reopen()
        tally.poison.withLock { $0 = [] }
        #expect(try await store.storage.projections.replayDeadLetters("tally") == 2)
        #expect(try await tallied(store.storage) == positions(store.storage))
        #expect(try await store.storage.projections.deadLetters().isEmpty)
        try await store.storage.close()
        #expect(Set(tally.reactions.withLock { $0 }).count == receipts.count)
    }

    /// Wherever in a small history it throws: it alone stands there, with everything before and nothing behind, says so, and goes on after
    /// a fix; with dead letters the row waits and nothing is lost.
    @Test("A projection may throw at any event", arguments: [2, 1_000])
    func throwingAtEveryEvent(batchSize: Int) async throws {
        let commits = [[1, 2], [2], [3, 1, 2], [3]]
        let total = commits.joined().count
        for poisoned in 1...total {
            let bad = Tally("bad")
            let letters = Tally("letters")
            let good = Tally("good")
            let store = try TemporaryStore { schema in
                schema.autoSchema(NoteRecord.self)
                schema.addProjection(bad, mode: .async, batchSize: batchSize)
                schema.addProjection(letters, mode: .async, onFailure: .deadLetter, batchSize: batchSize)
                schema.addProjection(good, mode: .async, batchSize: batchSize)
            }
            let storage = store.storage
            let at = storage.head + Int64(poisoned)
            for projection in [bad, letters] { projection.poison.withLock { $0 = [at] } }
            for (round, ids) in commits.enumerated() {
                try await storage.write { tx in for id in ids { try tx.save(Note(id: id, text: "\(round)")) } }
            }
            let all = try await positions(storage)
            #expect(all.count == total)
            try await waitUntilFailed(storage, "bad")
            // It takes in nothing, but says how far to wait.
            let receipt = try await storage.delete(Note.self, id: 99)
            try await storage.waitForProjections(through: receipt, of: "good", "letters")
            #expect(try await tallied(storage, "good") == all)
            // A batch ends with a whole commit, so the one with the poison isn't there at all.
            let commit = try #require(try await storage.allEvents().first { $0.position == at }).commit
            let start = try #require(try await storage.allEvents().first { $0.commit == commit }).position
            let status = try await status(storage, "bad")
            #expect(status.state == .failed)
            #expect(status.position < start)
            #expect(status.failedPosition.map { $0 <= at } == true)
            #expect(status.error?.contains("@\(at)") == true)
            #expect(try await tallied(storage, "bad") == all.filter { $0 < start }, "@\(at)")
            let waiting = try await storage.projections.deadLetters("letters").map(\.position)
            #expect(waiting.first == at)
            #expect(try await (tallied(storage, "letters") + waiting).sorted() == all, "@\(at)")
            if poisoned % 2 == 0 { try await store.reopen() }
            for projection in [bad, letters] { projection.poison.withLock { $0 = [] } }
            try await store.storage.projections.resume("bad")
            #expect(try await store.storage.projections.replayDeadLetters("letters") == waiting.count)
            try await settle(store.storage)
            let whole = try await positions(store.storage)
            for name in ["bad", "letters", "good"] {
                #expect(try await tallied(store.storage, name) == whole, "\(name) @\(at)")
            }
            try await store.storage.close()
        }
    }

    private func withSequentialSaves(_ storage: Storage) async throws -> [CommitReceipt] {
        var receipts: [CommitReceipt] = []
        for (id, text) in [(0, "a"), (1, "a"), (2, "a"), (1, "b"), (2, "b"), (3, "a")] {
            receipts.append(try await storage.save(Note(id: id, text: text)))
        }
        return receipts
    }

    // MARK: Plans and conversions

    @Test("A plan lists what becomes of projections")
    func planListsProjections() async throws {
        let store = try store([Tally("one"), Tally("two")], mode: .async)
        try await store.storage.close()
        let plan = { (declare: (inout Schema) -> Void) in try StorageKit.plan(at: store.url, declare).description }
        #expect(
            try plan {
                $0.autoSchema(NoteRecord.self, PersonRecord.self)
                $0.addProjection(Tally("one", version: 2), mode: .async)
                $0.dropProjection("two")
                $0.addProjection(Tally("three"))
            } == """
                no projection two
                  drop table "two"
                  drop projection two
                projection one
                  recreate projection one (async, version 2), which has version 1
                projection three
                  make projection three (inline, version 1)
                """)
        #expect(
            try plan {
                $0.addProjection(Tally("one"))
                $0.addProjection(Tally("two", entities: ["persons"]), mode: .async)
            } == """
                projection one
                  keep projection one (inline, version 1), which was async
                projection two
                  recreate projection two (async, version 1), which reads other entities
                """)
        try await store.reopen()
        #expect(try await store.storage.projections.status().map(\.name) == ["one", "two"])
        // An open store has the projections that it was opened with.
        try await store.storage.close()
        let context = try StorageKit.start(at: store.url) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.addProjection(Tally("one"), mode: .async)
        }
        let pool = context.storage.pool
        var schema = Schema()
        schema.autoSchema(NoteRecord.self, PersonRecord.self)
        schema.addProjection(Tally("one"), mode: .async)
        try schema.run(on: pool)
        schema.addProjection(Tally("late"))
        let error = #expect(throws: StorageError.self) { try schema.run(on: pool) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("late") ?? false)
        try await context.facade.close()
    }

    enum Before {
        @StorageEntity(table: "stocks") struct Stock { var id: Int; var amount: String }
    }
    enum After {
        @StorageEntity(table: "stocks") struct Stock { var id: Int; var amount: Int }
    }

    /// Adds up by typed changes, whose values from before a conversion come converted.
    private struct Sums: Projection {
        let name = "sums"
        let version = 1
        let entities = ["stocks"]

        func prepare(_ db: Database) throws {
            try db.execute(
                sql: "CREATE TABLE sums(id INTEGER PRIMARY KEY, total INTEGER NOT NULL, rows INTEGER NOT NULL)")
            try db.execute(sql: "INSERT INTO sums VALUES (1, 0, 0)")
        }

        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            for change in try batch.changes(of: After.Stock.self) {
                try db.execute(
                    sql: "UPDATE sums SET total = total + ?, rows = rows + ?",
                    arguments: [
                        (change.new?.amount ?? 0) - (change.old?.amount ?? 0),
                        (change.new == nil ? 0 : 1) - (change.old == nil ? 0 : 1),
                    ])
            }
        }
    }

    @Test("Typed changes go through conversions", arguments: [ProjectionMode.inline, .async], [1, 2, 1_000])
    func typedChangesAreConverted(mode: ProjectionMode, batchSize: Int) async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(Before.StockRecord.self) }.facade
        try await first.save((1...4).map { Before.Stock(id: $0, amount: "\($0)") })
        try await first.save(Before.Stock(id: 2, amount: "20"))
        try await first.save(Before.Stock(id: 3, amount: "many"))
        try await first.delete(Before.Stock.self, id: 4)
        try await first.close()
        let open = {
            try StorageKit.start(at: url) {
                $0.convertColumn("amount", of: "stocks", to: Int.self) { old in
                    guard case .text(let text) = old, let number = Int64(text) else { return -1 }
                    return .integer(number)
                }
                $0.autoSchema(After.StockRecord.self)
                $0.addProjection(Sums(), mode: mode, batchSize: batchSize)
            }.facade
        }
        let sums = { (storage: Storage) in
            try await storage.waitForProjections(through: try await storage.delete(After.Stock.self, id: 99))
            return try await storage.read { db in
                try GRDB.Row.fetchOne(db, sql: "SELECT total, rows FROM sums").map { [$0[0] as Int, $0[1] as Int] }
            }
        }
        let storage = try open()
        #expect(try await sums(storage) == [1 + 20 - 1, 3])
        try await storage.save([After.Stock(id: 1, amount: 100), After.Stock(id: 5, amount: 7)])
        try await storage.delete(After.Stock.self, id: 3)
        #expect(try await sums(storage) == [100 + 20 + 7, 3])
        try await storage.projections.rebuild("sums")
        #expect(try await sums(storage) == [127, 3])
        try await storage.close()
        let again = try open()
        try await again.projections.reset("sums")
        #expect(try await sums(again) == [127, 3])
        try await again.close()
    }

    // MARK: Tables

    @Test("Only the projection writes to its tables")
    func tablesAreProtected() async throws {
        let store = try store([Tally()], mode: .inline)
        let storage = store.storage
        try await storage.save(Note(id: 1, text: "a"))
        for sql in ["DELETE FROM tally", "UPDATE tally SET key = 'x'", "INSERT INTO tally VALUES (99, 'x', 'y')"] {
            let error = await #expect(throws: StorageError.self) { try await storage.write { try $0.execute(sql) } }
            #expect(error?.message.contains("only the projection tally") == true)
        }
        try await storage.close()
        let foreign = try DatabaseQueue(path: store.url.path)
        try await foreign.write { db in
            #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM tally") }
            try db.execute(sql: "DROP INDEX tally_key")
        }
        try foreign.close()
        try await store.reopen()
        let findings = try await store.storage.verify().findings.map(\.description)
        #expect(findings.contains { $0.contains("tally_key is missing") })
        try await store.storage.projections.rebuild("tally")
        #expect(try await store.storage.verify().isSound)
    }

    /// Does one thing that a projection may not do.
    private struct Meddling: Projection {
        let name = "meddling"
        let version = 1
        var preparing = "CREATE TABLE meddled(x)"
        var applying = "INSERT INTO meddled VALUES (1)"
        func prepare(_ db: Database) throws { try db.execute(sql: preparing) }
        func apply(_ batch: ProjectionBatch, _ db: Database) throws { try db.execute(sql: applying) }
    }

    @Test(
        "A projection can't write elsewhere",
        arguments: [
            "UPDATE notes SET text = 'forged'", "DELETE FROM storage_log", "INSERT INTO notes VALUES (9, 'x', 0, 0)",
        ])
    func writingElsewhere(sql: String) async throws {
        for mode in [ProjectionMode.inline, .async] {
            let store = try store([Meddling(applying: sql)], mode: mode)
            if mode == .inline {
                await #expect(throws: StorageError.self) { try await store.storage.save(Note(id: 1, text: "a")) }
                #expect(try await store.storage.count(Note.self) == 0)
            } else {
                try await store.storage.save(Note(id: 1, text: "a"))
                try await waitUntilFailed(store.storage, "meddling")
                #expect(try await store.storage.get(Note.self, id: 1)?.text == "a")
            }
            #expect(try await store.storage.verify().isSound)
        }
    }

    @Test(
        "Tables that can't be created refuse the opening",
        arguments: [
            "CREATE TABLE storage_mine(x)", "DROP TABLE notes", "CREATE TABLE notes(x)",
            "CREATE INDEX more ON notes(text)",
            "INSERT INTO notes VALUES (1, 'x', 0, 0)",
        ])
    func refusedTables(sql: String) async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save(Note(id: 7, text: "a"))
        try await store.storage.close()
        #expect(throws: StorageError.self) {
            try StorageKit.start(at: store.url) {
                $0.autoSchema(NoteRecord.self)
                $0.addProjection(Meddling(preparing: sql))
            }
        }
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
        try await store.storage.save(Note(id: 8, text: "b"))
        #expect(try await store.storage.count(Note.self) == 2)
    }

    @Test("Invalid names are refused")
    func invalidNames() {
        for name in ["", "a b", "ü", "x'y", String(repeating: "x", count: 101)] {
            #expect(throws: StorageError.self) { try StorageKit.inMemory { $0.addProjection(Tally(name)) } }
        }
        #expect(throws: StorageError.self) {
            try StorageKit.inMemory {
                $0.addProjection(Tally())
                $0.addProjection(Tally(), mode: .async)
            }
        }
    }

    @Test("A store that is no longer used is released")
    func unusedStoreIsReleased() async throws {
        let store = try TemporaryStore()
        let url = store.url.deletingLastPathComponent().appendingPathComponent("other.sqlite")
        // Not closed: the task of the projection mustn't keep the file open for long.
        for attempt in 0..<3_000 {
            do {
                _ = try StorageKit.start(at: url) {
                    $0.autoSchema(NoteRecord.self)
                    $0.addProjection(Tally(), mode: .async)
                }
                if attempt > 0 { return }
            } catch let error as StorageError where error.code == .busy && attempt > 0 {}
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("the file is still open")
    }
}
