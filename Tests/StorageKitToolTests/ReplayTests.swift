import Foundation
import GRDB
import TestSupport
import Testing

/// `storagekit replay`: wherever it goes, forward or back, the tables are what they were there.
struct ReplayTests {
    /// A history of three tables in commits of a few operations each.
    private static func history(_ seed: UInt64, operations: Int) -> String {
        var random = SplitMix64(seed: seed)
        var rows: [String: Set<Int>] = [:]
        var lines: [String] = []
        for number in 0..<operations {
            let table = ["posts", "users", "tags"].randomElement(using: &random) ?? "posts"
            let id = Int.random(in: 1...9, using: &random)
            let isThere = rows[table, default: []].contains(id)
            let operation = !isThere ? "insert" : Int.random(in: 0..<4, using: &random) == 0 ? "delete" : "update"
            if operation == "insert" { rows[table, default: []].insert(id) }
            if operation == "delete" { rows[table, default: []].remove(id) }
            // A new column comes in the middle.
            let extra = number > operations / 2 ? #","later":\#(number)"# : ""
            let row = #"{"id":\#(id),"value":\#(Int.random(in: 0..<100, using: &random))\#(extra)}"#
            lines.append(
                #"{"tx":\#(number / 3),"at":"2024-05-01T10:00:00Z","op":"\#(operation)","table":"\#(table)","id":"\#(id)","row":\#(operation == "delete" ? "null" : row)}"#
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// On a terminal an empty line does again what was done last, and a slip doesn't end the session.
    @Test("A person steps at a terminal")
    func steppingAtTerminal() async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.onTerminal(
            ["replay", "--step"], store: store.path, noColor: true, answer: "N\n\nfoo\np\nq\n")
        #expect(outcome.status == 0, "\(outcome.output)")
        for words in ["t:2", "t:3", "back"] { #expect(outcome.output.contains(words), "\(words): \(outcome.output)") }
    }

    @Test(
        "A break is at a value as it is shown",
        arguments: [
            ("score = Infinity", "t:3"), ("score = {\"$real\":\"Infinity\"}", "t:3"), ("body = x'00ff'", "t:2"),
            ("title = Hello, world", "t:3"),
        ])
    func breaksAtShownValues(condition: String, commit: String) async throws {
        let store = try await SampleStore.shared.value
        let hit = try ToolProcess.run(["replay", "-q", "--break", "posts/a/1#\(condition)"], store: store.path)
        #expect(hit.status == 1, "\(hit.output)\(hit.errors)")
        #expect(hit.output.contains("(\(commit))"), "\(hit.output)")
    }

    private func adopted(_ sql: String) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let database = folder.path("plain.db")
        let queue = try DatabaseQueue(path: database)
        try await queue.write { try $0.execute(sql: sql) }
        try queue.close()
        let adopted = try ToolProcess.run(["adopt", database, "-s", folder.path()], store: nil)
        #expect(adopted.status == 0, "\(adopted.errors)")
        return folder
    }

    @Test(
        "A condition for a break compares as the column does",
        arguments: ["v = '9'", "new_v = '9'", "name = 'bob'", "old_v IS NULL AND new_name = 'BoB'", "r = 5"])
    func breaksByAffinityAndCollation(condition: String) async throws {
        let folder = try await adopted(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v INT, name TEXT COLLATE NOCASE, r REAL);
            INSERT INTO t VALUES (1, 8, 'anna', 1), (2, 9, 'BOB', 5);
            """)
        let hit = try ToolProcess.run(["replay", "-q", "--break", condition], store: folder.path())
        #expect(hit.status == 1, "\(hit.output)\(hit.errors)")
        #expect(hit.output.contains("@2"), "\(hit.output)\(hit.errors)")
    }

    /// Three names for each column are more than SQLite lets a table have.
    @Test("A break may be at a value of a wide table")
    func breaksInWideTable() async throws {
        let columns = (1...699).map { "c\($0)" }.joined(separator: ", ")
        let folder = try await adopted(
            """
            CREATE TABLE wide(id INTEGER PRIMARY KEY, \(columns));
            INSERT INTO wide(id, c1, c699) VALUES (1, 8, 8), (2, 9, 10);
            """)
        for condition in ["c1 = 9", "new_C699 = 10", "\"c1\" + old_c2 IS NULL AND c1 = 9"] {
            let hit = try ToolProcess.run(["replay", "-q", "--break", condition], store: folder.path())
            #expect(hit.status == 1, "\(condition): \(hit.output)\(hit.errors)")
            #expect(hit.output.contains("@2"), "\(condition): \(hit.output)\(hit.errors)")
        }
        for condition in ["c700 = 9", "c1 = ", "nosuch(c1)"] {
            let refused = try ToolProcess.run(["replay", "-q", "--break", condition], store: folder.path())
            #expect(refused.status == 2, "\(condition): \(refused.output)\(refused.errors)")
        }
    }

    @Test("Tables are what they were wherever it goes", arguments: [1, 2] as [UInt64])
    func tablesAtEveryPoint(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let store = folder.path()
        let file = try TemporaryFile(Array(Self.history(seed, operations: 200).utf8))
        #expect(try ToolProcess.run(["import", file.path], store: store).status == 0)
        var random = SplitMix64(seed: seed)
        let query = "SELECT * FROM posts ORDER BY id"
        var script = "g @150\n"
        for _ in 0..<60 {
            let moves = [
                "n", "N", "p", "P", "n 7", "N 5", "p 6", "P 4", "g @\(Int.random(in: 100...200, using: &random))",
            ]
            script += "\(moves.randomElement(using: &random) ?? "n")\n.\ns \(query)\n"
        }
        let replay = try ToolProcess.run(
            ["replay", "@90..", "-q", "--step", "--format", "jsonl"], store: store, input: script)
        #expect(replay.status == 0)
        #expect(replay.errors.isEmpty)
        // What is between two lines with a position is the answer there.
        var answers: [(position: String, rows: [Substring])] = []
        for line in replay.output.split(separator: "\n") {
            if line.contains(#""stop":"#) {
                let position = line.split(separator: #""position":"#).last?.prefix { $0.isNumber } ?? ""
                answers.append((String(position), []))
            } else if !answers.isEmpty {
                answers[answers.count - 1].rows.append(line)
            }
        }
        answers.removeAll { $0.rows.isEmpty }
        #expect(answers.count == 60)
        // It comes to some positions again and again; what was there is asked for once.
        for (position, visits) in Dictionary(grouping: answers, by: \.position) {
            let past = try ToolProcess.run(["at", "@\(position)", query, "--format", "jsonl"], store: store)
            for visit in visits {
                #expect(past.output.split(separator: "\n") == visit.rows, "at @\(position), seed \(seed)")
            }
        }
    }

    /// What is asked at a terminal goes to standard error, mistakes don't end it, and the store stays as it is.
    @Test("The store is never touched")
    func storeIsNeverTouched() async throws {
        let store = try await SampleStore()
        let before = try Data(contentsOf: URL(fileURLWithPath: store.path))
        _ = try ToolProcess.run(["replay", "--break", "views > 5"], store: store.path)
        _ = try ToolProcess.run(["replay", "--step"], store: store.path, input: "N 3\ns SELECT * FROM posts\nP\nd\n")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == before)
    }
}
