import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageMaintenance
import StorageProjections
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// Counts the events that it gets, and throws where it should.
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
    func store(
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

    func tallied(_ storage: Storage, _ name: String = "tally") async throws -> [Int64] {
        try await storage.read { try Int64.fetchAll($0, sql: "SELECT position FROM \(name) ORDER BY position") }
    }

    func positions(_ storage: Storage, _ table: String = "notes") async throws -> [Int64] {
        try await storage.allEvents().filter { $0.table == table }.map(\.position)
    }

    func status(_ storage: Storage, _ name: String = "tally") async throws -> ProjectionStatus {
        try #require(try await storage.projections.status().first { $0.name == name })
    }

    func settle(_ storage: Storage) async throws {
        try await storage.waitForProjections(through: try await storage.save(Note(id: -1, text: UUID().uuidString)))
    }

    /// Waits for a failure, which has no signal.
    func waitUntilFailed(_ storage: Storage, _ name: String = "tally") async throws {
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

    @Test("Events don't wait in memory for a slow side effect", arguments: [ProjectionMode.inline, .async])
    func slowSideEffect(mode: ProjectionMode) throws {
        let folder = try TemporaryFolder()
        let worker = try Worker(store: folder.path("store.sqlite"), mode: "sending", prefix: mode.rawValue)
        #expect(worker.result("sent") == 129)
        // Each of the 128 events is larger than a megabyte.
        #expect(worker.result("megabytes") < 100)
    }

    /// It changes its tables without a commit, and where the reader weren't woken, the test would wait until its time is over.
    @Test("Another process sees what an asynchronous projection has made", .timeLimit(.minutes(5)))
    func projectionSeenByReaders() async throws {
        let store = try store([Tally()], mode: .async)
        try await settle(store.storage)
        var configuration = StorageConfig(isReadOnly: true)
        configuration.heartbeat = .seconds(3_600)
        let reader = try StorageKit.start(at: store.url, config: configuration).facade
        var counts = reader.liveValue { try Int.fetchOne($0, sql: "SELECT count(*) FROM tally") ?? 0 }.snapshots
            .makeAsyncIterator()
        for number in 1...20 {
            while try await counts.next() != number {}
            try await store.storage.save(Note(id: number, text: "a"))
        }
        while try await counts.next() != 21 {}
        try await reader.close()
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
}
