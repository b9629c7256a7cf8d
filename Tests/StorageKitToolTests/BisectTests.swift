import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// `bisect` finds a change that was planted into a random history, whatever happens to the schema around it.
@Suite struct BisectTests {
    @Test("A command that can't be run doesn't count as an answer")
    func commandThatCannotRun() async throws {
        let store = try await SampleStore()
        let outcome = try ToolProcess.run(["bisect", "--run", "/nowhere/check"], store: store.path)
        #expect(outcome.status == 6, "\(outcome.errors)")
        #expect(outcome.errors.contains("can't be run"), "\(outcome.errors)")
    }

    /// A signal to the whole group may end the command before the tool's handler of it has run.
    @Test(
        "A signal that ends the command, too, ends the tool before the next step",
        arguments: ["kill -TERM $$", "exit 143"])
    func signalToTheGroup(end: String) async throws {
        let store = try await SampleStore.shared.value
        let folder = try TemporaryFolder()
        let process = ToolProcess.prepared(
            ["bisect", "--run", "echo begun >> steps; kill -TERM $PPID; \(end)"], store: store.path)
        process.currentDirectoryURL = folder.url
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitForEnd()
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(process.terminationStatus == SIGTERM)
        #expect(try String(contentsOfFile: folder.path("steps"), encoding: .utf8) == "begun\n")
    }

    /// Without SIGCHLD's default, a process that has ended leaves no status.
    @Test("A command's answer counts where SIGCHLD is ignored at the start")
    func ignoredEndOfProcesses() async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.shell(
            "python3 -c '\(ToolProcess.ignoringEndOfProcesses)' \"$0\" bisect --run 'exit 1'", store: store.path)
        let ordinary = try ToolProcess.run(["bisect", "--run", "exit 1"], store: store.path)
        #expect(outcome.errors == ordinary.errors)
        #expect(ordinary.errors.contains("false"), "\(ordinary.errors)")
    }

    /// Invariants are violated at the end, and can't be judged at the beginning.
    @Test(
        "Invariants need no range",
        arguments: [
            ("SELECT max(views) < 5 FROM posts", 4, true), ("SELECT views < 5 FROM posts WHERE id = 'a/1'", 4, true),
            ("SELECT count(*) = 0 FROM seats", 4, true),
            ("SELECT title LIKE 'again%' FROM posts WHERE id = 'b'", 6, false),
        ])
    func invariants(sql: String, commit: Int64, before: Bool) async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.run(["bisect", sql, "--format", "json"], store: store.path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("\"commit\":\(commit),"), "\(outcome.output)")
        #expect(outcome.output.contains("\"before\":\(before)"), "\(outcome.output)")
    }

    @Test("What can't be judged is said, and where the result differs")
    func unjudged() async throws {
        let store = try await SampleStore.shared.value
        let none = try ToolProcess.run(["bisect", "SELECT 1 FROM posts WHERE id = 'none'"], store: store.path)
        #expect(none.status == 6, "\(none.errors)")
        #expect(none.errors.contains("can't be judged"), "\(none.errors)")
        // The row was deleted before it was inserted with another title.
        let gap = try ToolProcess.run(["bisect", "SELECT title = '42' FROM posts WHERE id = 'b'"], store: store.path)
        #expect(gap.status == 6, "\(gap.errors)")
        #expect(gap.errors.contains("One of t:5 to t:6"), "\(gap.errors)")
        // Two posts at t:2 and t:6, one between.
        let twice = try ToolProcess.run(["bisect", "t:2..t:6", "SELECT count(*) = 2 FROM posts"], store: store.path)
        #expect(twice.status == 1, "\(twice.errors)")
        #expect(twice.errors.contains("false at t:5"), "\(twice.errors)")
    }

    /// The tables of each point are in a file that any program of this user can read, and no other user.
    @Test("A command reads the tables of the point")
    func commandReadsHistoricalTables() async throws {
        let store = try await SampleStore()
        let check = """
            python3 -c "import os, sqlite3, sys
            path = os.environ['STORAGEKIT_DATABASE']
            assert os.stat(os.path.dirname(path)).st_mode & 0o77 == 0
            database = sqlite3.connect(path)
            assert database.execute('PRAGMA integrity_check').fetchone() == ('ok',)
            sys.exit(0 if database.execute('SELECT count(*) FROM posts').fetchone()[0] < 2 else 1)"
            """
        let outcome = try ToolProcess.run(
            ["bisect", "t:2..t:5", "--run", check, "--database", "--format", "jsonl"], store: store.path)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains(#""commit":5,"#), "\(outcome.output)\(outcome.errors)")
        let alone = try ToolProcess.run(["bisect", "--database", "SELECT 1"], store: store.path)
        #expect(alone.status == 2)
    }

    @Test("A planted change is found", arguments: 0..<6, testSeeds(1))
    func plantedChange(round: Int, seed: UInt64) async throws {
        var random = SplitMix64(seed: seed &+ UInt64(round))
        let folder = try TemporaryFolder()
        let engine = try SampleStore.open(folder.path(), segmentLength: [4, 1_024].randomElement(using: &random))
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(
                db, "things", "CREATE TABLE things(k PRIMARY KEY NOT NULL, v, _position INTEGER NOT NULL DEFAULT 0)")
        }
        let commits = 3 + round * 12
        let marked = Int.random(in: 0..<commits, using: &random)
        let planted = Int.random(in: marked..<commits, using: &random)
        var column = "v"
        var expected: Int64?
        for number in 0..<commits {
            let key = Int.random(in: 0..<20, using: &random)
            var statements = ["INSERT OR REPLACE INTO things(k, \(column)) VALUES (\(key), \(number))"]
            if number == marked { statements.append("ALTER TABLE things ADD COLUMN mark") }
            if Int.random(in: 0..<5, using: &random) == 0 {
                statements.append("ALTER TABLE things RENAME COLUMN \(column) TO v\(number)")
                column = "v\(number)"
            }
            if Int.random(in: 0..<5, using: &random) == 0 {
                statements.append("ALTER TABLE things ADD COLUMN other\(number) DEFAULT 1")
            }
            // The planted row is no longer touched then.
            if number == planted { statements.append("INSERT INTO things(k, mark) VALUES (1000, 'planted')") }
            let sql = statements.joined(separator: ";")
            let receipt = try await engine.commit(CommitMetadata()) { _, db in try db.execute(sql: sql) }
            if number == planted { expected = receipt.commit }
        }
        try await engine.close()
        let outcome = try ToolProcess.run(
            ["bisect", "SELECT count(*) FROM things WHERE mark = 'planted'", "--format", "json"], store: folder.path())
        struct Found: Decodable {
            let commit: Int64
            let before: Bool
            let after: Bool
            let steps: Int
        }
        let found = try JSONDecoder().decode(Found.self, from: Data(outcome.output.utf8))
        #expect(found.commit == expected, "seed \(seed): \(outcome.output)")
        #expect(!found.before, "seed \(seed): \(outcome.output)")
        #expect(found.after, "seed \(seed): \(outcome.output)")
        // By halving: no more answers than the ends and a step for each doubling.
        #expect(found.steps <= 4 + Int(log2(Double(commits + 1)).rounded(.up)), "seed \(seed)")
    }
}
