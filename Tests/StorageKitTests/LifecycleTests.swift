import EntityTestSupport
import Foundation
import GRDB
import ServiceLifecycle
import StorageKit
import StorageLifecycle
import StorageMaintenance
import StorageProjections
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// How long an event takes.
private final class Pace: Sendable {
    let microseconds = Atomic<UInt32>(3_000)
}

/// Takes its time with each event.
private struct Slow: Projection {
    let pace: Pace
    let name = "slow"
    let version = 1
    let entities = ["notes"]
    let poison: Int

    func prepare(_ db: Database) throws { try db.execute(sql: "CREATE TABLE slow(position INTEGER PRIMARY KEY)") }

    func apply(_ batch: ProjectionBatch, _ db: Database) throws {
        for event in batch.events {
            if event.key[0].value == .integer(Int64(poison)) { throw CancellationError() }
            usleep(pace.microseconds.load(ordering: .relaxed))
            try db.execute(sql: "INSERT INTO slow VALUES (?)", arguments: [event.position])
        }
    }
}

/// A store in a service group is closed in order, whatever ends the group.
@Suite(.serialized) struct LifecycleTests {
    private let pace = Pace()

    private func store(poison: Int = -1, batchSize: Int = 5) throws -> TemporaryStore {
        var configuration = StorageConfig()
        configuration.segmentLength = 8
        configuration.sealsInBackground = false
        return try TemporaryStore(config: configuration) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.addProjection(Slow(pace: pace, poison: poison), mode: .async, batchSize: batchSize)
            $0.addProjection(Tally(), mode: .async, batchSize: 5)
        }
    }

    private func status(_ storage: Storage, _ name: String) async throws -> ProjectionStatus {
        try #require(try await storage.projections.status().first { $0.name == name })
    }

    /// Opens a store without doing anything to it.
    private func look(_ store: TemporaryStore) throws -> Storage {
        let configuration = StorageConfig(isReadOnly: true)
        return try StorageKit.start(at: store.url, config: configuration).facade
    }

    @Test("A graceful shutdown finishes projections, seals and closes")
    func gracefulShutdownOfStore() async throws {
        let store = try store()
        let storage = store.storage
        let writer = ClosureService {
            try? await gracefulShutdown()
            // The last words of a service that is ended before the store.
            for number in 0..<40 { try await storage.save(Note(id: number, text: "late")) }
        }
        let group = ServiceGroup(services: [StorageService(storage), writer])
        let running = Task { try await group.run() }
        try await storage.save(Note(id: 0, text: "early"))
        await group.triggerGracefulShutdown()
        try await running.value
        await #expect(throws: StorageError.self) { try await storage.count(Note.self) }
        let after = try look(store)
        #expect(try await after.count(Note.self) == 40)
        for name in ["slow", "tally"] { #expect(try await status(after, name).lag == 0, "\(name)") }
        let rows = try await after.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM storage_log WHERE last - position + 1 < 8 AND last % 8 = 0")
        }
        #expect(rows == 0, "full windows are sealed")
        #expect(try FileManager.default.attributesOfItem(atPath: store.url.path + "-wal")[.size] as? Int ?? 0 == 0)
        try await after.close()
        try await StorageKit.start(at: store.url).facade.close()
    }

    @Test("A paused projection isn't waited for")
    func shutdownWithPausedProjection() async throws {
        let store = try store(poison: 3)
        for number in 0..<30 { try await store.storage.save(Note(id: number, text: "")) }
        let group = ServiceGroup(services: [StorageService(store.storage)])
        let running = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        try await running.value
        let after = try look(store)
        let slow = try await status(after, "slow")
        #expect(slow.state == .failed)
        #expect(slow.lag > 0)
        #expect(try await status(after, "tally").lag == 0)
        try await after.close()
    }

    @Test("Cancellation closes at once and loses nothing")
    func cancelledService() async throws {
        let store = try store()
        try await store.storage.projections.pause("slow")
        for number in 0..<400 { try await store.storage.save(Note(id: number, text: "")) }
        // Too slow to be done with it, whatever else the machine does.
        pace.microseconds.store(500_000, ordering: .relaxed)
        try await store.storage.projections.resume("slow")
        let service = StorageService(store.storage)
        let running = Task { try await service.run() }
        // Time for the service to run.
        try await Task.sleep(for: .milliseconds(20))
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        await #expect(throws: StorageError.self) { try await store.storage.count(Note.self) }
        let between = try look(store)
        let slow = try await status(between, "slow")
        #expect(slow.state == .running)
        #expect(slow.lag > 0)
        try await between.close()
        pace.microseconds.store(100, ordering: .relaxed)
        try await store.reopen()
        try await store.storage.waitForProjections(through: try await store.storage.save(Note(id: 1_000, text: "")))
        #expect(try await status(store.storage, "slow").events == 401)
    }

    @Test("The group's graceful shutdown ends at its time limit")
    func shutdownTimeout() async throws {
        // A batch of one event, because closing waits for the current one.
        let store = try store(batchSize: 1)
        try await store.storage.projections.pause("slow")
        for number in 0..<400 { try await store.storage.save(Note(id: number, text: "")) }
        // Too slow to be done with it, whatever else the machine does.
        pace.microseconds.store(500_000, ordering: .relaxed)
        try await store.storage.projections.resume("slow")
        let group = ServiceGroup(services: [StorageService(store.storage)])
        let running = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        // Time for the shutdown to wait for the projection.
        try await Task.sleep(for: .milliseconds(50))
        running.cancel()
        _ = await running.result
        await #expect(throws: StorageError.self) { try await store.storage.count(Note.self) }
        let after = try look(store)
        #expect(try await status(after, "slow").lag > 0)
        #expect(try await after.verify().isSound)
        try await after.close()
    }

    @Test("Closing the store before the shutdown isn't an error")
    func closedBeforeShutdown() async throws {
        let store = try store()
        let group = ServiceGroup(services: [StorageService(store.storage)])
        let running = Task { try await group.run() }
        try await store.storage.save(Note(id: 1, text: ""))
        try await store.storage.close()
        await group.triggerGracefulShutdown()
        try await running.value
    }

    /// A real process that is asked to end while it writes and a projection follows.
    @Test("A process shuts down in order on SIGTERM")
    func terminatedProcess() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        for round in 0..<max(2, Int(3 * testScale)) {
            let worker = try Worker(store: path, mode: "serving", prefix: "r\(round)")
            #expect(try await worker.waitForLines(10 + round * 20))
            let acknowledged = worker.terminate()
            #expect(worker.exitStatus == 0)
            #expect(acknowledged.last?.name == "ended")
            let configuration = StorageConfig(isReadOnly: true)
            let storage = try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration).facade
            #expect(try await status(storage, "mark_counts").lag == 0)
            let counts = try await storage.read { db in
                try GRDB.Row.fetchAll(db, sql: "SELECT batch, marks FROM mark_counts").reduce(into: [:]) {
                    counts, row in
                    counts[row["batch"] as String] = row["marks"] as Int
                }
            }
            for write in acknowledged where write.rows > 0 { #expect(counts[write.name] == write.rows) }
            #expect(try await storage.verify().isSound)
            try await storage.close()
        }
    }
}
