import GRDB
import StorageCore
import StorageKit
import StorageTesting
import Synchronization
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageMaintenance
@testable import StorageProjections
@testable import StorageSync

/// What `print` shows of the values that observers, projections and sync engines are handed.
@Suite struct TimingDescriptionTests {
    @StorageEntity struct Post: Equatable {
        var id: Int
        var title: String
    }

    /// Writes down what it is given.
    private final class Described: Projection {
        let name = "described"
        let version = 1
        let entities = ["posts"]
        let rows = Mutex<[String]>([])
        let posts = Mutex<[String]>([])

        func prepare(_ db: Database) throws {}

        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            let (rows, posts) = (try batch.changes(of: "posts"), try batch.changes(of: Post.self))
            self.rows.withLock { $0 += rows.map(\.description) }
            self.posts.withLock { $0 += posts.map(\.description) }
        }
    }

    @Test("Changes of rows and entities in a batch")
    func batches() async throws {
        let described = Described()
        let store = try TemporaryStore(config: StorageConfig(clock: ManualClock())) {
            $0.autoSchema(PostRecord.self)
            $0.addProjection(described)
        }
        let position = try await store.storage.save(Post(id: 1, title: "a")).position
        try await store.storage.save(Post(id: 1, title: "b"))
        try await store.storage.delete(Post.self, id: 1)
        let stamp = #"updatedAt: "2024-01-01 00:00:00.000""#
        #expect(
            described.rows.withLock { $0 } == [
                "@\(position) insert posts/1 id: 1, title: \"a\", \(stamp)",
                "@\(position + 1) update posts/1 title: \"a\" → \"b\"",
                "@\(position + 2) delete posts/1 id: 1, title: \"b\", \(stamp)",
            ])
        let (first, second) = (Post(id: 1, title: "a"), Post(id: 1, title: "b"))
        #expect(
            described.posts.withLock { $0 } == [
                "@\(position) none → \(first)", "@\(position + 1) \(first) → \(second)",
                "@\(position + 2) \(second) → none",
            ])
    }

    @Test("Commit timings name the longest part")
    func commits() {
        var timing = CommitTiming(
            metadata: CommitMetadata(), result: .success(CommitReceipt(commit: 12, first: 101, last: 140, time: 0)),
            startMicroseconds: 0, duration: .milliseconds(12))
        timing.queue = .milliseconds(2)
        timing.disk = .milliseconds(9)
        timing.checkpoint = .milliseconds(1)
        #expect("\(timing)" == "t:12 @101..@140: 0.012 seconds, mostly disk")
        timing.checkpoint = .milliseconds(7)
        #expect("\(timing)" == "t:12 @101..@140: 0.012 seconds, mostly checkpoint")
        var failed = CommitTiming(
            metadata: CommitMetadata(), result: .failure(CancellationError()), startMicroseconds: 0,
            duration: .seconds(1))
        failed.lock = .seconds(1)
        #expect("\(failed)" == "failed (CancellationError()): 1.0 seconds, mostly lock")
    }

    @Test("Read timings name the slowest statement, where it is known")
    func reads() {
        let scan = ReadTiming(
            duration: .milliseconds(120), connection: .zero, statement: "SELECT * FROM posts", reason: .fullScan,
            scannedRows: 1000)
        #expect("\(scan)" == "0.12 seconds, mostly full-scan, 1000 rows scanned: SELECT * FROM posts")
        let unknown = ReadTiming(
            duration: .milliseconds(120), connection: .milliseconds(100), statement: nil, reason: .connection,
            scannedRows: 0)
        #expect("\(unknown)" == "0.12 seconds, mostly connection")
    }

    @Test("Progress of a rebuild")
    func rebuilds() {
        func progress(_ phase: RebuildProgress.Phase, _ completed: Int64, perSecond rate: Double?) -> String {
            RebuildProgress(
                phase: phase, completed: completed, total: 1000, elapsed: .seconds(1), eventsPerSecond: rate
            ).description
        }
        #expect(progress(.reading, 450, perSecond: 50) == "reading, 45 % of 1000 events, 11.0 seconds left")
        #expect(progress(.reading, 0, perSecond: nil) == "reading, 0 % of 1000 events")
        #expect(progress(.comparing, 1000, perSecond: 50) == "comparing")
        #expect(progress(.swapping, 1000, perSecond: nil) == "swapping")
    }

    @Test("Receipts of sync engines are those of their commits")
    func receipts() {
        func receipt(_ local: CommitReceipt) -> String { "\(SyncReceipt(local: local) { _ in })" }
        #expect(receipt(CommitReceipt(commit: 12, first: 101, last: 140, time: 0)) == "t:12 @101..@140")
        #expect(
            receipt(CommitReceipt(commit: 12, first: 101, last: 101, time: 0, isDuplicate: true))
                == "t:12 @101, a duplicate")
        #expect(receipt(CommitReceipt(commit: nil, first: 1, last: 0, time: 0)) == "no changes @0")
    }
}
