import Foundation
import GRDB
import StorageCore
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

    /// The changes that are told, made one after another, are the page.
    @Test func changesLeadToThePage() async throws {
        let store = try await SampleStore(segmentLength: 16)
        let engine = try SampleStore.open(store.path, segmentLength: 16)
        let process = ToolProcess.prepared(
            [
                "watch", "users", "--order", "name desc", "-n", "5", "--where", "name LIKE 'w%'", "--for", "900",
                "--format", "jsonl",
            ], store: store.path)
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let handle = pipe.fileHandleForReading
        // The first line tells that it follows.
        let first = try #require(BackgroundThread { handle.availableData }.wait())
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
        let reader = BackgroundThread { () -> [Line.Row] in
            var text = first
            while true {
                let rows = Self.rows(text)
                if rows.map(\.name) == wanted { return rows }
                let more = handle.availableData
                if more.isEmpty { return rows }
                text += more
            }
        }
        #expect(reader.wait()?.map(\.name) == wanted)
        process.interrupt()
        process.waitUntilExit()
        try await engine.close()
    }

    private static func rows(_ text: Data) -> [Line.Row] {
        var rows: [Line.Row] = []
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
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

    @Test func thePastIsPlayedForPeople() async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.run(
            ["watch", "users", "-n", "3", "--from", "@0", "--pace", "100000", "--for", "2"], store: store.path)
        #expect(outcome.status == 0)
        let now = try ToolProcess.run(["watch", "users", "-n", "3", "--for", "0.5"], store: store.path)
        // The last page of the film is the page of now.
        let page = now.output.split(separator: "\n").dropFirst()
        #expect(!page.isEmpty && outcome.output.split(separator: "\n").suffix(page.count) == page)
        #expect(outcome.output.split(separator: "\n").count > page.count + 1)
    }

    /// The numbers at the end of the film are those of the database.
    @Test func numbersAreKept() async throws {
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
        }
        let film = try ToolProcess.run(
            [
                "watch", "users", "--aggregate", "count, max(name)", "--from", "@0", "--pace",
                "100000",
                "--for", "2", "--format", "jsonl",
            ], store: store.path)
        #expect(film.status == 0)
        let rows = film.output.split(separator: "\n").compactMap { line in
            try? JSONDecoder().decode(Line.self, from: Data(line.utf8)).row
        }
        let answer = try ToolProcess.run(
            ["sql", "SELECT count(*) AS count, max(name) FROM users", "--format", "jsonl"], store: store.path)
        let wanted = try JSONDecoder().decode(Line.Row.self, from: Data(answer.output.utf8))
        #expect(rows.count > 1 && rows.last == wanted)
    }

    @Test func wrongQuestionsAreAnswered() async throws {
        let store = try await SampleStore.shared.value
        let table = try ToolProcess.run(["watch", "nothing"], store: store.path)
        #expect(table.status == 3 && table.errors.contains("There is no table"))
        let order = try ToolProcess.run(["watch", "users", "--order", "nome"], store: store.path)
        #expect(order.status == 2 && order.errors.contains("name"))
        let condition = try ToolProcess.run(["watch", "users", "--where", "nome = 1", "--for", "1"], store: store.path)
        #expect(condition.status != 0 && condition.errors.contains("nome"))
        let number = try ToolProcess.run(["watch", "users", "--aggregate", "median(id)"], store: store.path)
        #expect(number.status == 2 && number.errors.contains("sum(x)"))
        let column = try ToolProcess.run(["watch", "users", "--aggregate", "sum(nome)"], store: store.path)
        #expect(column.status == 2 && column.errors.contains("name"))
        let page = try ToolProcess.run(["watch", "users", "--aggregate", "count", "-n", "3"], store: store.path)
        #expect(page.status == 2 && page.errors.contains("--aggregate"))
    }
}
