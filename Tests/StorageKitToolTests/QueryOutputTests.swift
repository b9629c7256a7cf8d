import Foundation
import StorageKit
import TestSupport
import Testing

/// What `sql` and `at` print of answers that people and programs misread otherwise.
@Suite struct QueryOutputTests {
    @Test("An answer without rows has a header", arguments: [["sql"], ["at", "t:3"]])
    func emptyAnswer(command: [String]) async throws {
        let store = try await SampleStore.shared.value
        let query = "SELECT id, title FROM posts WHERE 0"
        for (format, output) in [
            ("csv", "id,title\n"), ("md", "| id | title |\n| --- | --- |\n"), ("jsonl", ""), ("json", "[]\n"),
        ] {
            let outcome = try ToolProcess.run(command + [query, "--format", format], store: store.path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output == output, "\(format)")
        }
        let outcome = try ToolProcess.run(command + [query], store: store.path)
        #expect(outcome.output.hasSuffix("id  title\n0 rows\n"), "\(outcome.output)")
    }

    @Test("A column is named once in --fields")
    func repeatedField() async throws {
        let store = try await SampleStore.shared.value
        let query = ["sql", "SELECT id, id FROM posts", "--format", "jsonl", "--fields"]
        let refused = try ToolProcess.run(query + ["id,id"], store: store.path)
        #expect(refused.status == 2, "\(refused.output)")
        #expect(refused.errors.contains("'id,id' names the column id twice."), "\(refused.errors)")
        let both = try ToolProcess.run(query + ["id:1,id"], store: store.path)
        #expect(both.output.hasPrefix(#"{"id:1":"#), "\(both.output)\(both.errors)")
    }

    @Test("Comments may stand before and after a statement, and a second statement may not")
    func comments() async throws {
        let store = try await SampleStore()
        for sql in ["-- first\nSELECT 1 AS a", "SELECT 1 AS a; -- last", "SELECT 1 AS a;; /* last */ ;\n--"] {
            for command in [["sql"], ["at", "head"]] {
                let outcome = try ToolProcess.run(command + [sql, "--format", "csv"], store: store.path)
                #expect(outcome.output == "a\n1\n", "\(sql): \(outcome.errors)")
            }
        }
        for (sql, problem) in [
            ("-- first", "isn't a query"), (";", "isn't a query"), ("SELECT 1; SELECT 2", "is more than one statement"),
            ("SELECT 1; -- then\n SELEC", "is more than one statement"),
        ] {
            let outcome = try ToolProcess.run(["sql", sql], store: store.path)
            #expect(outcome.status == 2, "\(sql): \(outcome.output)")
            #expect(outcome.errors.contains(problem), "\(sql): \(outcome.errors)")
        }
        let changed = try ToolProcess.run(
            ["exec", "--yes", "-- a fix\nUPDATE users SET name = 'x'; -- done"], store: store.path)
        #expect(changed.output.contains("1 row updated"), "\(changed.errors)")
    }

    @Test("CSV distinguishes NULL from an empty text")
    func nullInCSV() async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.run(
            ["sql", "SELECT NULL AS a, '' AS b, 'x' AS c", "--format", "csv"], store: store.path)
        #expect(outcome.output == "a,b,c\n,\"\",x\n")
        let log = try ToolProcess.run(["log", "t:4..t:5", "--format", "csv"], store: store.path)
        #expect(log.output.contains(",2024-05-02T17:00:00Z,,,,posts,0,0,1\n"), "\(log.output)")
    }

    @Test("A star stands for the user's columns")
    func starWithoutPosition() async throws {
        let store = try await SampleStore.shared.value
        for command in [["sql"], ["at", "head"]] {
            let star = try ToolProcess.run(command + ["SELECT * FROM users", "--format", "csv"], store: store.path)
            #expect(star.output == "id,name\n7,Anna B.\n", "\(star.errors)")
            let named = try ToolProcess.run(
                command + ["SELECT id, _position FROM users", "--format", "csv"], store: store.path)
            #expect(named.output == "id,_position\n7,23\n", "\(named.errors)")
        }
    }

    @Test("Quotes in a shown text are escaped, and long blobs are counted")
    func shownValues() async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.run(
            ["sql", #"SELECT '"They" said' AS quoted, zeroblob(3000) AS long, x'00ff' AS short"#], store: store.path)
        #expect(outcome.output.contains(#""\"They\" said""#), "\(outcome.output)")
        #expect(outcome.output.contains("…' (3,000 bytes)"), "\(outcome.output)")
        #expect(outcome.output.contains("x'00ff'"), "\(outcome.output)")
        #expect(outcome.output.count < 600)
    }
}
