import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// `watch`: a live page of a store that another process writes to.
@Suite struct WatchTests {
    private struct Line: Decodable {
        struct Row: Decodable, Equatable {
            let id: Int
            let name: String
        }
        let position: Int64
        let change: String
        let at: Int?
        let from: Int?
        let row: Row?
    }

    /// A `watch` that runs beside the test, which reads from it what it waits for: the machine may be slow.
    private final class Watching {
        private let process: Process
        private let handle: FileHandle
        private var text = Data()

        init(_ arguments: [String], store: String) throws {
            process = ToolProcess.prepared(["watch"] + arguments + ["--for", "900"], store: store)
            let pipe = Pipe()
            process.standardOutput = pipe
            handle = pipe.fileHandleForReading
            try process.start()
        }

        deinit {
            process.terminate()
            process.waitForEnd()
        }

        /// Waits until what was printed is enough, or the command has ended.
        ///
        /// - Returns: What was printed up to now.
        func text(until isEnough: @escaping @Sendable (String) -> Bool) -> String {
            text =
                BackgroundThread { [handle, text] in
                    var text = text
                    while !isEnough(String(decoding: text, as: UTF8.self)) {
                        let more = handle.nextBytes()
                        if more.isEmpty { break }
                        text += more
                    }
                    return text
                }.wait() ?? text
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// The changes that are printed, made one after another, are the page.
    @Test("Changes lead to the page")
    func changesLeadToPage() async throws {
        let store = try await SampleStore(segmentLength: 16)
        let engine = try SampleStore.open(store.path, segmentLength: 16)
        let watching = try Watching(
            ["users", "--order", "name desc", "-n", "5", "--where", "name LIKE 'w%'", "--format", "jsonl"],
            store: store.path)
        // The first line says that it follows.
        #expect(watching.text { $0.contains("\n") }.contains("reset"))
        for number in 0..<20 {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO users(name) VALUES (?)", arguments: ["w\(number * 7 % 20 + 10)"])
                if number % 4 == 3 {
                    try db.execute(
                        sql: "UPDATE users SET name = ? WHERE name = ?",
                        arguments: ["w9\(number)", "w\(number * 7 % 20 + 10)"])
                }
                if number % 6 == 5 {
                    try db.execute(sql: "DELETE FROM users WHERE name = (SELECT max(name) FROM users)")
                }
            }
        }
        let wanted = try await engine.read { (db: GRDB.Database) in
            try String.fetchAll(
                db, sql: "SELECT name FROM users WHERE name LIKE 'w%' ORDER BY name DESC, id DESC LIMIT 5")
        }
        let text = watching.text { Self.rows($0).map(\.name) == wanted }
        #expect(Self.rows(text).map(\.name) == wanted)
        try await engine.close()
    }

    /// A condition in SQL reads the whole page again with each commit of the table; what it doesn't change isn't printed.
    @Test("A commit that leaves the page as it was prints nothing")
    func unchangedPage() async throws {
        let store = try await SampleStore()
        let engine = try SampleStore.open(store.path)
        let watching = try Watching(["users", "--where", "id < 100", "--format", "jsonl"], store: store.path)
        #expect(watching.text { $0.contains("Anna B.") }.contains("reset"))
        for number in 0..<3 {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO users(id, name) VALUES (?, 'far')", arguments: [200 + number])
            }
        }
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO users(id, name) VALUES (50, 'near')")
        }
        let text = watching.text { $0.contains("near") }
        #expect(text.split(separator: "\n").count(where: { $0.contains("reset") }) == 1, "\(text)")
        #expect(text.split(separator: "\n").count(where: { $0.contains("Anna B.") }) == 1, "\(text)")
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "UPDATE users SET name = 'nearer' WHERE id = 50")
        }
        let updated = watching.text { $0.contains("nearer") }.split(separator: "\n")
        #expect(updated.last?.contains(#""change":"update""#) == true, "\(updated)")
        try await engine.close()
    }

    private static func rows(_ text: String) -> [Line.Row] {
        var rows: [Line.Row] = []
        for line in text.split(separator: "\n") {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)) else { continue }
            switch (line.change, line.at, line.row) {
            case ("reset", _, _): rows = []
            case ("insert", let place?, let row?): rows.insert(row, at: place)
            case ("update", let place?, let row?): rows[place] = row
            case ("remove", let place?, _): rows.remove(at: place)
            case ("move", let place?, let row?):
                rows.remove(at: line.from ?? 0)
                rows.insert(row, at: place)
            default: Issue.record("\(line)")
            }
        }
        return rows
    }

    @Test("A SELECT over several tables, and rows with included ones, print a line only where something differs")
    func severalTables() async throws {
        let store = try await SampleStore()
        let engine = try SampleStore.open(store.path)
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(
                db, "notes",
                """
                CREATE TABLE "notes" (
                  id INTEGER PRIMARY KEY, user INTEGER, text TEXT, data BLOB, _position INTEGER NOT NULL DEFAULT 0)
                """)
        }
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(
                sql: "INSERT INTO notes(id, user, text, data) VALUES (1, 7, 'it''s', x'00FF'), (2, 7, 'two', NULL)")
        }
        let query = try Watching(
            [
                "--sql",
                "SELECT users.id, name, count(text) AS notes FROM users JOIN notes ON user = users.id GROUP BY 1",
                "--format", "jsonl",
            ], store: store.path)
        let page = try Watching(
            ["users", "-n", "2", "--include", "notes.user", "--format", "jsonl"], store: store.path)
        #expect(query.text { $0.contains("\"notes\":2") }.contains("reset"))
        #expect(page.text { $0.contains("00FF") }.contains("it's"))
        for sql in [
            // Neither a column that isn't read, nor rows that leave the result as it is.
            "UPDATE notes SET data = x'01' WHERE id = 2", "INSERT INTO notes(id, user) VALUES (3, 77)",
            "INSERT INTO notes(id, user, text) VALUES (4, 7, 'four')",
        ] {
            _ = try await engine.commit(CommitMetadata()) { _, db in try db.execute(sql: sql) }
        }
        let rows = query.text { $0.contains("\"notes\":3") }
        #expect(rows.split(separator: "\n").count == 3, "\(rows)")
        #expect(page.text { $0.contains("four") }.split(separator: "\n").count(where: { $0.contains("reset") }) == 1)
        // Only the page's own rows are read, so their number in the table isn't known.
        for (number, range) in [(1, "1-1"), (2, "0")] {
            let included = try ToolProcess.run(
                [
                    "watch", "users", "-n", "2", "--page", "\(number)", "--include", "notes.user", "--for", "0",
                    "--format", "human",
                ], store: store.path)
            #expect(included.output.prefix { $0 != "\n" }.hasSuffix("  \(range)"), "\(included)")
        }
        let wrong = try ToolProcess.run(["watch", "--sql", "DELETE FROM users"], store: store.path)
        #expect(wrong.status != 0)
        let unknown = try ToolProcess.run(["watch", "users", "--include", "notes.nobody"], store: store.path)
        #expect(unknown.status == 2)
        #expect(unknown.errors.contains("has no column \"nobody\""))
        try await engine.close()
    }

    /// The last page of the film is the page of now.
    @Test("History is played for people")
    func playingHistory() async throws {
        let store = try await SampleStore.shared.value
        // A page ends with an empty line, and begins with where it is.
        let now = try Watching(["users", "-n", "3", "--format", "human"], store: store.path)
            .text { $0.contains("\n\n") }
        let page = now.drop { $0 != "\n" }
        #expect(page.count > 10)
        // Slowly enough: pages that come faster than they are written are left out.
        let film = try Watching(
            ["users", "-n", "3", "--from", "@0", "--pace", "10", "--format", "human"], store: store.path
        )
        .text { $0.hasSuffix(page) }
        #expect(film.hasSuffix(page))
        #expect(film.count > now.count)
    }

    #if os(Linux)  // Opening a pseudo-terminal differs elsewhere.
        @Test("A terminal that can't be cleared gets page after page", arguments: ["dumb", "xterm"])
        func dumbTerminal(kind: String) async throws {
            let store = try await SampleStore.shared.value
            let outcome = try ToolProcess.onTerminal(
                ["watch", "users", "--for", "0"], store: store.path, variables: ["TERM": kind])
            #expect(outcome.output.contains("users @26"), "\(outcome)")
            #expect(outcome.output.contains("\u{1B}[2J") == (kind != "dumb"), "\(outcome)")
        }
    #endif

    /// The numbers at the end of the film are those of the database.
    @Test("Aggregates are followed")
    func aggregates() async throws {
        let store = try await SampleStore.shared.value
        struct Line: Decodable {
            struct Row: Decodable, Equatable {
                let count: Int
                let greatest: String
                enum CodingKeys: String, CodingKey {
                    case count
                    case greatest = "max(name)"
                }
            }
            let row: Row?

            static func rows(_ text: String) -> [Row] {
                text.split(separator: "\n").compactMap { line in
                    try? JSONDecoder().decode(Line.self, from: Data(line.utf8)).row
                }
            }
        }
        let answer = try ToolProcess.run(
            ["sql", "SELECT count(*) AS count, max(name) FROM users", "--format", "jsonl"], store: store.path)
        let wanted = try JSONDecoder().decode(Line.Row.self, from: Data(answer.output.utf8))
        // Slowly enough: numbers that come faster than they are written are left out.
        let film = try Watching(
            ["users", "--aggregate", "count, max(name)", "--from", "@0", "--pace", "10", "--format", "jsonl"],
            store: store.path)
        let rows = Line.rows(film.text { Line.rows($0).last == wanted })
        #expect(rows.count > 1)
        #expect(rows.last == wanted)
    }

    @Test("Wrong arguments are answered")
    func wrongArguments() async throws {
        let store = try await SampleStore.shared.value
        let table = try ToolProcess.run(["watch", "nothing"], store: store.path)
        #expect(table.status == 3)
        #expect(table.errors.contains("There is no table"))
        let order = try ToolProcess.run(["watch", "users", "--order", "nome"], store: store.path)
        #expect(order.status == 2)
        #expect(order.errors.contains("name"))
        let condition = try ToolProcess.run(["watch", "users", "--where", "nome = 1", "--for", "1"], store: store.path)
        #expect(condition.status != 0)
        #expect(condition.errors.contains("nome"))
        let number = try ToolProcess.run(["watch", "users", "--aggregate", "median(id)"], store: store.path)
        #expect(number.status == 2)
        #expect(number.errors.contains("sum(x)"))
        let column = try ToolProcess.run(["watch", "users", "--aggregate", "sum(nome)"], store: store.path)
        #expect(column.status == 2)
        #expect(column.errors.contains("name"))
        for words in [["--page", "4611686018427387904", "-n", "4"], ["-n", "\(Int.max)"]] {
            let far = try ToolProcess.run(["watch", "users", "--for", "0"] + words, store: store.path)
            #expect(far.status == 2, "\(words): \(far)")
        }
        let page = try ToolProcess.run(["watch", "users", "--aggregate", "count", "-n", "3"], store: store.path)
        #expect(page.status == 2)
        #expect(page.errors.contains("--aggregate"))
    }
}
