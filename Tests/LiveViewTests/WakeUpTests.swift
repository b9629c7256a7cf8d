import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// A process hears of the commits of another when they are made, and misses none.
///
/// Readers have a heartbeat of an hour here, so that a lost wake-up isn't found by chance: the test would stand still.
/// The limit is far beyond what the whole run takes: a test's time goes on while it waits for others.
@Suite(.serialized, .timeLimit(.minutes(30))) struct WakeUpTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("store.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    /// The files beside the store that aren't SQLite's.
    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { !$0.contains("-") }.sorted()
    }

    /// One process commits, durably, what the other asks for; that asks again only when it has seen everything.
    @Test("Every commit of another process arrives in order")
    func commitsArriveInOrder() async throws {
        let writer = try Worker(store: path, mode: "asked", prefix: "x")
        #expect(try await writer.waitForLines(1))
        // 10,000 where the suite runs at twenty times its everyday size.
        let commits = max(100, Int((testScale > 1 ? 500 : 150) * testScale))
        let reader = try Worker(store: path, mode: "asking", prefix: "\(commits)", speakingTo: writer)
        #expect(try await reader.status() == 0)
        #expect(try await writer.waitForLines(1 + commits))
        #expect(writer.kill().count == commits)
    }

    @Test("A reader continues after its writer was killed")
    func listeningAfterKilledWriter() async throws {
        let first = try Worker(store: path, mode: "asked", prefix: "x")
        #expect(try await first.waitForLines(1))
        let storage = try quietReader(at: path)
        var changes = storage.changes(since: .position(storage.head)).makeAsyncIterator()
        try first.ask(for: 1)
        let number = try #require(try await changes.next()).commit.number
        #expect(try await first.waitForLines(2))
        _ = first.kill()
        let second = try Worker(store: path, mode: "asked", prefix: "y")
        #expect(try await second.waitForLines(1))
        for place in 1...3 {
            try second.ask(for: 1)
            #expect(try await changes.next()?.commit.number == number + Int64(place))
        }
        try await storage.close()
        _ = second.kill()
    }

    @Test("A killed reader leaves nothing behind")
    func killedReader() async throws {
        let writer = try StorageKit.start(at: URL(fileURLWithPath: path)) { $0.autoSchema(NoteRecord.self) }.facade
        let before = try files()
        #expect(before == ["store.sqlite", "store.sqlite.bell", "store.sqlite.lock"])
        for round in 0..<3 {
            let worker = try Worker(store: path, mode: "listening", prefix: "x")
            #expect(try await worker.waitForLines(1))
            // Twice, so that it is asleep in between.
            for line in 2...3 {
                try await writer.save(Note(id: round, text: "\(line)"))
                #expect(try await worker.waitForLines(line))
            }
            #expect(try files() == before)
            #expect(worker.kill().count == 2)
            #expect(try files() == before)
        }
        try await writer.save(Note(id: 99, text: "nobody listens"))
        try await writer.close()
    }
}
