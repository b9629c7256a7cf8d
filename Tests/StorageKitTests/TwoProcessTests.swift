import EntityTestSupport
import Foundation
import StorageKit
import StorageMaintenance
import TestSupport
import Testing

/// P7 of the engine: one process writes, any number read, and nobody but the writer checkpoints.
@Suite struct TwoProcessTests {
    private func readOnly() -> StorageConfig {
        let configuration = StorageConfig(isReadOnly: true)
        return configuration
    }

    @Test("A second writer is refused and learns who holds the store")
    func secondWriter() async throws {
        let folder = try TemporaryFolder()
        let worker = try Worker(store: folder.path("a.sqlite"), mode: "hold", prefix: "x")
        #expect(try await worker.waitForLines(1))
        let error = #expect(throws: StorageError.self) {
            try StorageKit.start(at: URL(fileURLWithPath: folder.path("a.sqlite")))
        }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("process \(worker.pid)") ?? false)
        _ = worker.kill()
        // The kernel lets go of a dead process's lock.
        _ = try StorageKit.start(at: URL(fileURLWithPath: folder.path("a.sqlite")))
    }

    /// POSIX releases all locks of a process on a file as soon as the process closes any descriptor of the file. Another program would
    /// then take the store for unused and delete its write-ahead log, with what is committed later.
    @Test("Using the path of an open store releases none of SQLite's locks")
    func locksOfOpenStore() async throws {
        let folder = try TemporaryFolder.inMemory()
        let (path, copy) = (folder.path("c.sqlite"), folder.path("copy.sqlite"))
        let url = URL(fileURLWithPath: path)
        let storage = try StorageKit.start(at: url) { $0.autoSchema(NoteRecord.self) }.facade
        try await storage.save(Note(id: 1, text: "one"))
        #expect(try Self.areLocked(path))
        let uses: [(String, () async throws -> Void)] = [
            ("start", { _ = try StorageKit.start(at: url) }),
            ("start for reading", { try await StorageKit.start(at: url, config: readOnly()).facade.close() }),
            ("plan", { _ = try StorageKit.plan(at: url) { $0.autoSchema(NoteRecord.self) } }),
            ("verify", { _ = try await storage.verify() }),
            ("backup", { try await storage.backup(to: URL(fileURLWithPath: copy)) }),
            ("backup over it", { try await storage.backup(to: url, replacing: true) }),
            ("restore", { _ = try PointRestore(path).plan(1) }),
            ("adopt", { _ = try DatabaseAdoption(path, tables: [], metadata: CommitMetadata()).plan() }),
            (
                "adopt in place",
                {
                    let adoption = DatabaseAdoption(path, tables: [], metadata: CommitMetadata())
                    _ = try await adoption.runInPlace(backup: nil)
                }
            ),
        ]
        for (name, use) in uses {
            // Some of them are refused.
            do { try await use() } catch is StorageError {}
            #expect(try Self.areLocked(path), "\(name)")
        }
        try await storage.save(Note(id: 2, text: "two"))
        try await storage.close()
    }

    /// Whether a process has locks on a store's file and on the index of its write-ahead log.
    private static func areLocked(_ path: String) throws -> Bool {
        // The kernel's list is read in parts. Where another lock is released in between, one may be missing in it, but not each time.
        try (0..<20).contains { _ in
            let locks = try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
            return [path, path + "-shm"].allSatisfy { file in
                var found = stat()
                guard stat(file, &found) == 0 else { return false }
                return locks.contains { $0.contains(":\(found.st_ino) ") }
            }
        }
    }

    /// SQLite before 3.51.3 can corrupt a file when one process checkpoints while another commits. Readers that come
    /// and go, and writers that try to, must never get so far.
    @Test("Readers that come and go beside a writer never checkpoint")
    func readersNeverCheckpoint() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("b.sqlite")
        let worker = try Worker(store: path, mode: "group", prefix: "w")
        #expect(try await worker.waitForLines(1))
        var heads: [Int64] = []
        let end = ContinuousClock.now + .seconds(max(1, testScale))
        // At least a few readers, however slow the machine is.
        while ContinuousClock.now < end || heads.count < 4 || heads.first == heads.last && heads.count < 2_000 {
            let reader = try StorageKit.start(at: URL(fileURLWithPath: path), config: readOnly()).facade
            // Up to the head as the reader found it: the writer may well be faster than a reader. The end of the log is enough.
            var query = LogQuery()
            query.positions = max(1, reader.head - 5_000)...max(1, reader.head)
            var last: Int64 = 0
            for try await event in reader.log.events(query) {
                #expect(event.position > last)
                last = event.position
            }
            heads.append(last)
            try await reader.close()
            #expect(throws: StorageError.self) { try StorageKit.start(at: URL(fileURLWithPath: path)) }
        }
        let acknowledged = worker.kill()
        #expect(heads == heads.sorted(), "the readers saw no progress: \(heads)")
        #expect(heads.first != heads.last, "the readers saw no progress: \(heads)")
        #expect(!acknowledged.isEmpty)
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path)).facade
        let report = try await storage.verify()
        #expect(report.isSound, "\(report.findings)")
    }

    /// A process that checkpoints while another commits damages the file (SQLite before 3.51.3), so it must ask for the
    /// writer's lock first, and not get it.
    @Test("Checkpointing needs the lock, and never happens beside a writer")
    func checkpointNeedsLock() async throws {
        let race = try await CheckpointRace(mode: "checkpoint", seconds: max(0.5, testScale / 2))
        #expect(race.checkpoints == 0)
        #expect(race.refusals > 0)
        #expect(race.writes > 0, "\(race.findings)")
        #expect(race.findings.isEmpty, "\(race.findings)")
    }

    /// The proof that the test above guards against something: without the lock the same two processes damage the
    /// store, on most runs within seconds. It runs on request, because it needs luck.
    @Test(
        "Without the lock the file is damaged",
        .enabled(if: ProcessInfo.processInfo.environment["STORAGEKIT_PROVE_RACE"] != nil))
    func damageWithoutLock() async throws {
        for _ in 0..<20 {
            let race = try await CheckpointRace(mode: "checkpoint-unasked", seconds: 4)
            #expect(race.checkpoints > 0)
            print("\(race.writes) writes beside \(race.checkpoints) checkpoints: \(race.findings.first ?? "sound")")
            if !race.findings.isEmpty { return }
        }
        Issue.record("twenty rounds without damage: has SQLite fixed the race?")
    }
}

/// A writer and a process that checkpoints, side by side for a while on the fastest file system there is.
private struct CheckpointRace {
    var checkpoints = 0
    var refusals = 0
    var writes = 0
    /// What is wrong with the store afterwards.
    var findings: [String] = []

    init(mode: String, seconds: Double) async throws {
        let folder = try TemporaryFolder.inMemory()
        let path = folder.path("race.sqlite")
        let writer = try Worker(store: path, mode: "fast", prefix: "w")
        guard try await writer.waitForLines(2) else {
            findings.append("the writer did not start")
            return
        }
        let other = try Worker(store: path, mode: mode, prefix: "\(seconds)")
        // Both lines are there when the process has ended.
        guard try await other.waitForLines(2) else {
            findings.append("the other process failed")
            return
        }
        checkpoints = other.result("checkpoints")
        refusals = other.result("refusals")
        writes = writer.kill().count
        do {
            let storage = try StorageKit.start(at: URL(fileURLWithPath: path)).facade
            findings += try await storage.verify().findings.map { "\($0)" }
            findings += try await storage.read { db in
                try String.fetchAll(db, sql: "PRAGMA integrity_check(3)").filter { $0 != "ok" }
            }
            let count = try await storage.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM marks") ?? 0 }
            if count < writes { findings.append("\(writes - count) acknowledged writes are missing") }
        } catch {
            findings.append("\(error)")
        }
    }
}
