import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageLog
import StorageMaintenance
import StorageProjections
import StorageSync
import TestSupport
import Testing

/// P1 and P2: a write that returned survives SIGKILL, and a commit is wholly there or not at all.
@Suite struct CrashConsistencyTests {
    @Test("A killed writer loses nothing that was returned", arguments: ["single", "batch", "group", "sealing"])
    func killedWriterKeepsReturnedCommits(mode: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("aging.sqlite")
        var acknowledged: [(rows: Int, name: String)] = []
        let rounds = max(3, Int(4 * testScale))
        // One store ages through all rounds.
        for round in 0..<rounds {
            let worker = try Worker(store: path, mode: mode, prefix: "r\(round)")
            // Some are killed while they open and recover the store, the others at a random moment of their work.
            let isEarly = round % 4 == 3
            if !isEarly {
                #expect(try await worker.waitForLines(2), "the store could not be opened in round \(round)")
            }
            // Killed at any moment.
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...(isEarly ? 80 : 90))))
            acknowledged += worker.kill()
            // The file beside the store says how far it had come, and never more than that: it opens without complaint.
            let known = try #require(Acknowledgement.reading(besideStore: path), "round \(round)")
            try await check(path, acknowledged, round: round)
            let rows = acknowledged.reduce(0) { $0 + $1.rows }
            #expect(known.position >= rows, "round \(round): \(rows) rows were acknowledged")
        }
        #expect(acknowledged.count >= rounds * 3 / 4, "the workers hardly wrote anything")
    }

    /// One store that lives through random steps in one process after another, each of which is killed at a random moment: also
    /// while it opens, seals, rebuilds, copies or closes.
    @Test("A store that is killed again and again keeps everything")
    func repeatedlyKilledStore() async throws {
        let folder = try TemporaryFolder()
        var ledger = ""
        var acknowledged = 0
        let rounds = FaultLab.scaled(6)
        let seeds = testSeeds(rounds)
        for round in 0..<rounds * 5 {
            // Further rounds only where a slow machine let the first ones write too little.
            if round >= rounds, acknowledged >= rounds { break }
            let seed = seeds[round % seeds.count]
            let worker = try Worker("fault-worker", ["live", "\(seed)", folder.url.path, "r\(round)-"])
            let isEarly = round % 4 == 3
            if !isEarly { #expect(try await worker.waitForLines(4), "the store could not be used in round \(round)") }
            // Killed at any moment.
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...(isEarly ? 120 : 300))))
            ledger += worker.killedLines().map { $0 + "\n" }.joined()
            try ledger.write(toFile: folder.path("ledger"), atomically: true, encoding: .utf8)
            let lab = try await FaultLab.run("check", folder.url.path)
            #expect(lab.status == 0, "round \(round), seed \(seed)")
            #expect(lab.findings == [], "round \(round), seed \(seed)")
            acknowledged = lab.count("acknowledged")
        }
        #expect(acknowledged >= rounds, "the workers hardly wrote anything")
    }

    private func check(_ path: String, _ acknowledged: [(rows: Int, name: String)], round: Int) async throws {
        let context = try StorageKit.start(at: URL(fileURLWithPath: path))
        let storage = context.facade
        let report = try await storage.verify()
        #expect(report.isSound, "round \(round): \(report.findings)")
        let counts = try await storage.read { db in
            let exists = try db.tableExists("marks")
            guard exists else { return [:] as [String: Int] }
            let rows = try GRDB.Row.fetchAll(db, sql: "SELECT batch, count(*) AS rows FROM marks GROUP BY batch")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["batch"] as String, $0["rows"] as Int) })
        }
        for (rows, name) in acknowledged {
            #expect(
                counts[name] == rows, "round \(round): \(name) returned, but has \(counts[name] ?? 0) of \(rows) rows")
        }
        for (name, rows) in counts { #expect([1, 10, 50].contains(rows), "round \(round): \(name) is half done") }
        try await storage.close()
    }

    /// A projection that was catching up, or being made again, is as of a whole commit, in all its tables, and goes on from
    /// there.
    @Test("A killed projection is old or new, never mixed", arguments: ["projecting", "remaking"])
    func killedProjectionIsNeverMixed(_ mode: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("\(mode).sqlite")
        var wasBehind = 0
        let rounds = max(4, Int(5 * testScale))
        for round in 0..<rounds * 5 {
            // Further rounds only until it was caught while it was behind.
            if round >= rounds, wasBehind > 0 || mode == "remaking" { break }
            let worker = try Worker(store: path, mode: mode, prefix: "r\(round)")
            #expect(try await worker.waitForLines(2), "the store could not be opened in round \(round)")
            // Killed at any moment.
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...120)))
            _ = worker.kill()
            // Opened without the projection, so that it stays where it was.
            let storage = try StorageKit.start(at: URL(fileURLWithPath: path)).facade
            let report = try await storage.verify()
            #expect(report.isSound, "round \(round): \(report.findings)")
            let status = try #require(try await storage.projections.status().first)
            if status.lag > 0 { wasBehind += 1 }
            try await storage.read { db in
                // What lies in the log up to the checkpoint is what the tables hold: commits have ten rows each.
                let expected = try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM marks WHERE _position <= ?", arguments: [status.position])
                let counts = try Int.fetchAll(db, sql: "SELECT marks FROM mark_counts")
                let total = try Int.fetchOne(db, sql: "SELECT marks FROM mark_total")
                let last = try Int64.fetchOne(db, sql: "SELECT last FROM mark_total") ?? 0
                #expect(counts.allSatisfy { $0 == 10 }, "round \(round): a commit is there by half")
                #expect(counts.reduce(0, +) == total, "round \(round)")
                #expect(total == expected, "round \(round)")
                #expect(last <= status.position, "round \(round)")
            }
            try await storage.close()
        }
        #expect(wasBehind > 0 || mode == "remaking", "the projection was never caught while it was behind")
    }

    /// What a query source has fetched is there whole or not at all, and its age is that of the rows.
    @Test("A killed refresh is there wholly or not at all")
    func killedRefreshIsAtomic() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("refreshing.sqlite")
        var (killedMerges, lostMerges) = (0, 0)
        let rounds = max(4, Int(4 * testScale))
        for round in 0..<max(100, rounds * 5) {
            // Further rounds only until a merge was caught half-way, which is seldom where this process is slow.
            if round >= rounds, lostMerges > 0 { break }
            let worker = try Worker(store: path, mode: "refreshing", prefix: "")
            // An answer, its merge, and the next answer: every other one is killed as soon as that is about to be merged.
            #expect(try await worker.waitForLines(3), "the store could not be opened in round \(round)")
            // Killed at any moment.
            if round.isMultiple(of: 2) { try await Task.sleep(for: .milliseconds(Int.random(in: 1...60))) }
            let lines = worker.killedLines()
            let said = lines.filter { !$0.hasPrefix("answered ") }
            let storage = try StorageKit.start(at: URL(fileURLWithPath: path)).facade
            let report = try await storage.verify()
            #expect(report.isSound, "round \(round): \(report.findings)")
            let status = try #require(try await storage.querySourceStatuses().first)
            let generation = try #require(status.lastRefresh.map { Int($0.timeIntervalSince1970) })
            let expected = (0..<200).filter { $0 % 3 != generation % 3 }
            try await storage.read { db in
                let batches = try String.fetchAll(db, sql: "SELECT DISTINCT batch FROM marks")
                let numbers = try Int.fetchAll(db, sql: "SELECT number FROM marks ORDER BY number")
                #expect(batches == ["\(generation)"], "round \(round)")
                #expect(numbers == expected, "round \(round)")
            }
            // What was merged before it was said is there.
            #expect(said.last.flatMap { Int($0) } ?? 0 <= generation)
            #expect(status.failures == 0)
            if let last = lines.last, last.hasPrefix("answered ") {
                killedMerges += 1
                if last != "answered \(generation)" { lostMerges += 1 }
            }
            try await storage.close()
        }
        #expect(lostMerges > 0, "no merge was caught half-way, of \(killedMerges)")
    }

    /// A source in pages keeps those that were committed, deletes nothing, and stays as old as it was.
    @Test("A refresh that is killed between pages doesn't count")
    func refreshKilledBetweenPages() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("paging.sqlite")
        for round in 0..<2 {
            let worker = try Worker(store: path, mode: "paging", prefix: "")
            // The first one has the first generation before it.
            #expect(try await worker.waitForLines(round == 0 ? 2 : 1))
            #expect(worker.killedLines() == (round == 0 ? ["1", "between"] : ["between"]))
            let storage = try StorageKit.start(at: URL(fileURLWithPath: path)).facade
            let report = try await storage.verify()
            #expect(report.isSound, "\(report.findings)")
            let statuses = try await storage.querySourceStatuses()
            #expect(statuses.map(\.lastRefresh) == [Date(timeIntervalSince1970: 1)])
            #expect(statuses.map(\.failures) == [0])
            let (first, second) = ((0..<200).filter { $0 % 3 != 1 }, (0..<200).filter { $0 % 3 != 2 })
            let page = second[..<(second.count / 2)]
            try await storage.read { db in
                let new = try Int.fetchAll(db, sql: "SELECT number FROM marks WHERE batch = '2' ORDER BY number")
                let old = try Int.fetchAll(db, sql: "SELECT number FROM marks WHERE batch = '1' ORDER BY number")
                #expect(new == Array(page))
                #expect(old == first.filter { !page.contains($0) })
            }
            try await storage.close()
        }
    }

    /// A rebuild resumes with what it had folded when it was killed, and leaves nothing of it behind.
    @Test("A killed rebuild of a projection resumes")
    func killedProjectionRebuildResumes() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("refolding.sqlite")
        let file = path + ".fold-mark_counts"
        let first = try open(URL(fileURLWithPath: path))
        let count = 25_000
        try await first.save((0..<count).map { Mark(id: "a\($0)", batch: "b\($0 % 100)", number: $0) })
        try await first.close()
        for _ in 0..<2 {
            let worker = try Worker(store: path, mode: "refolding", prefix: "rest")
            // Ready, where it begins, and a step further, where it rests.
            #expect(try await worker.waitForLines(3))
            let reported = worker.kill()
            #expect(!reported.contains { $0.name == "done" }, "\(reported)")
            #expect(FileManager.default.fileExists(atPath: file))
        }
        let last = try Worker(store: path, mode: "refolding", prefix: "-")
        let reported = last.finish()
        let resumed = try #require(reported.last { $0.name == "done" }).rows
        #expect(resumed >= 10_000, "\(reported)")
        #expect(reported.first?.rows == resumed, "\(reported)")
        #expect(!FileManager.default.fileExists(atPath: file))
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path)).facade
        try await storage.read { db in
            let total = try Int.fetchOne(db, sql: "SELECT marks FROM mark_total")
            #expect(total == count)
            let counts = try Int.fetchAll(db, sql: "SELECT marks FROM mark_counts")
            #expect(Set(counts) == [count / 100])
        }
        try await storage.close()
    }

    /// The store as the worker opens it; rows of the log as short as its own make many steps.
    private func open(_ url: URL) throws -> Storage {
        var configuration = StorageConfig()
        configuration.segmentLength = 64
        return try StorageKit.start(at: url, config: configuration) { $0.autoSchema(MarkRecord.self) }.facade
    }

    /// Whatever a rebuild or a restoration had done when it was killed: the table is the old one or the new one.
    @Test("A killed rebuild or restore is there wholly or not at all", arguments: ["rebuilding", "restoring"])
    func killedRebuildOrRestoreIsAtomic(_ mode: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("\(mode).sqlite")
        let url = URL(fileURLWithPath: path)
        let first = try open(url)
        try await first.save((0..<400).map { Mark(id: "a\($0)", batch: "a", number: $0) })
        let position = first.head
        let early = try await first.all(Mark.self)
        try await first.write { tx in
            try tx.save((200..<900).map { Mark(id: "a\($0)", batch: "b", number: $0) })
            for number in 0..<100 { try tx.delete(Mark.self, id: "a\(number)") }
        }
        let late = try await first.all(Mark.self)
        try await first.close()
        var resumed = 0
        var (old, new) = (0, 0)
        let rounds = max(6, Int(6 * testScale))
        for round in 0..<rounds * 5 {
            // Further rounds only until it was caught both before and after.
            if round >= rounds, mode == "rebuilding" ? resumed > 0 : old > 0 && new > 0 { break }
            let worker = try Worker(store: path, mode: mode, prefix: "\(position)")
            #expect(try await worker.waitForLines(1), "the store could not be opened in round \(round)")
            if mode == "rebuilding", round % 2 == 0 {
                // Ready, about to begin, one step done: then it rests.
                #expect(try await worker.waitForLines(3))
            } else if mode == "restoring", round % 3 != 2 {
                // About to begin, or done and about to take it back.
                #expect(try await worker.waitForLines(round % 3 + 1))
            } else {
                // Killed at any moment.
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...120)))
            }
            _ = worker.kill()
            let storage = try open(url)
            let marks = try await storage.all(Mark.self)
            let isWhole = marks == late || mode == "restoring" && marks == early
            #expect(isWhole, "round \(round): \(marks.count) rows")
            if marks == early { old += 1 } else { new += 1 }
            let report = try await storage.verify()
            #expect(report.isSound, "round \(round): \(report.findings)")
            if mode == "rebuilding", round % 2 == 0 {
                let rebuilt = try await storage.rebuild()
                if rebuilt.resumedAt > 0 { resumed += 1 }
                #expect(try await storage.all(Mark.self) == late)
                #expect(try await storage.verify().isSound)
            }
            // The next one begins where all rows are there.
            try await storage.restore(Mark.self, to: .commit(3))
            try await storage.close()
        }
        if mode == "rebuilding" {
            #expect(resumed > 0, "no rebuild was caught in the middle and taken up again")
        } else {
            #expect(old > 0, "killed before a restoration \(new) times, after it \(old) times")
            #expect(new > 0, "killed before a restoration \(new) times, after it \(old) times")
        }
    }

    /// Killed when its tables are about to change places, while they do, and when they have: old or new, and whole.
    @Test("A rebuild that is killed while swapping leaves old or new tables")
    func rebuildKilledInSwap() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("swapping.sqlite")
        let url = URL(fileURLWithPath: path)
        let first = try open(url)
        try await first.save((0..<3_000).map { Mark(id: "a\($0)", batch: "a", number: $0) })
        try await first.save((0..<1_000).map { Mark(id: "a\($0)", batch: "b", number: $0) })
        let marks = try await first.all(Mark.self)
        try await first.close()
        var (old, new) = (0, 0)
        let rounds = max(9, Int(9 * testScale))
        for round in 0..<rounds * 5 {
            // Further rounds only until it was caught both before and after.
            if round >= rounds, old > 0, new > 0 { break }
            let worker = try Worker(store: path, mode: "swapping", prefix: round % 6 == 2 ? "rest" : "-")
            #expect(try await worker.waitForLines(round % 3 == 0 ? 3 : 2), "round \(round)")
            // Killed at any moment.
            if round % 3 == 1 { try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000))) }
            _ = worker.kill()
            let storage = try open(url)
            #expect(try await storage.all(Mark.self) == marks, "round \(round)")
            let report = try await storage.verify()
            #expect(report.isSound, "round \(round): \(report.findings)")
            // The rebuild resumes with the shadow tables.
            if try await storage.rebuild().resumedAt > 0 { old += 1 } else { new += 1 }
            #expect(try await storage.all(Mark.self) == marks, "round \(round)")
            try await storage.close()
        }
        #expect(old > 0, "killed before the swap \(old) times, after it \(new) times")
        #expect(new > 0, "killed before the swap \(old) times, after it \(new) times")
    }
}
