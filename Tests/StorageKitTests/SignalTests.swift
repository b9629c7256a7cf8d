import Foundation
import StorageCore
import StorageKit
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// What a store counts of itself, and what it reports to observers.
@Suite struct SignalTests {
    private func open() throws -> TemporaryStore { try TemporaryStore { $0.autoSchema(ArticleRecord.self) } }

    @Test("Counters count commits, events, transactions and failures")
    func counters() async throws {
        let store = try open()
        let storage = store.storage
        let before = storage.counters
        for number in 0..<3 {
            try await storage.save((0..<4).map { Article(id: "\(number)-\($0)", title: "t", content: "c") })
        }
        struct Refused: Error {}
        await #expect(throws: Refused.self) { try await storage.write { _ in throw Refused() } }
        let after = storage.counters
        #expect(after.commits - before.commits == 3)
        #expect(after.events - before.events == 12)
        #expect(after.failedCommits - before.failedCommits == 1)
        #expect(after.commitDurations.count - before.commitDurations.count == 4)
        // What is sealed meanwhile waits for the disk as well.
        #expect(after.diskDurations.count - before.diskDurations.count >= 3)
        #expect(after.walPages > 0)
        #expect(after.waitingCommits == 0)
        try await store.storage.close()
    }

    @Test("A write that waits for another one says so")
    func queue() async throws {
        // In memory, so that no write waits long for the disk.
        let folder = try TemporaryFolder.inMemory()
        defer { withExtendedLifetime(folder) {} }
        let storage = try StorageKit.start(at: URL(fileURLWithPath: folder.path())) {
            $0.autoSchema(ArticleRecord.self)
        }.facade
        let timings = Mutex<[CommitTiming]>([])
        let observation = storage.observeCommits { timing in timings.withLock { $0.append(timing) } }
        let isInside = AsyncStream<Void>.makeStream()
        let long = Task {
            try await storage.write(correlation: "long") { tx in
                isInside.continuation.yield()
                // Until the other one waits, and from there on longer than a busy machine takes for the rest of the transaction.
                let deadline = ContinuousClock.now + .seconds(120)
                while storage.counters.waitingCommits == 0, ContinuousClock.now < deadline {
                    Thread.sleep(forTimeInterval: 0.001)
                }
                Thread.sleep(forTimeInterval: 1)
                try tx.save(Article(id: "long", title: "t", content: "c"))
            }
        }
        var inside = isInside.stream.makeAsyncIterator()
        _ = await inside.next()
        try await storage.write(correlation: "short") { tx in
            try tx.save(Article(id: "short", title: "t", content: "c"))
        }
        _ = try await long.value
        try await eventually { timings.withLock { $0.count } == 2 }
        let found = timings.withLock { $0 }
        #expect(found.first { $0.metadata.correlation == "long" }?.reason == .body)
        #expect(found.first { $0.metadata.correlation == "short" }?.reason == .queue)
        observation.cancel()
        try await storage.save(Article(id: "later", title: "t", content: "c"))
        #expect(timings.withLock { $0.count } == 2)
        try await storage.close()
    }

    @Test("Metrics of an open store fit Prometheus' grammar")
    func metrics() async throws {
        let store = try open()
        try await store.storage.save(Article(id: "a", title: "t", content: "c"))
        let metrics = PrometheusSamples(try await store.storage.prometheusMetrics())
        #expect(metrics.faults.isEmpty)
        #expect(metrics.values["storagekit_commit_duration_seconds_count"] == 1)
        #expect(metrics.values["storagekit_commit_duration_seconds_bucket{le=\"+Inf\"}"] == 1)
        #expect(metrics.values["storagekit_process_events_total"].map { $0 >= 1 } == true)
        try await store.storage.close()
    }
}
