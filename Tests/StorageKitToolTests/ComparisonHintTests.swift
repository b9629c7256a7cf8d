import Foundation
import StorageKit
import TestSupport
import Testing

/// A comparison that can't match is noted, because its answer looks like any other.
@Suite struct ComparisonHintTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let lines = [
            #"{"tx":1,"op":"insert","table":"posts","id":"42","row":{"points":150,"title":"100","score":1.5}}"#,
            #"{"tx":2,"op":"insert","table":"users","id":"1","row":{"score":"7"}}"#,
        ]
        let file = folder.path("history.jsonl")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
        let imported = try ToolProcess.run(["import", file], store: folder.path())
        try #require(imported.status == 0, "\(imported.errors)")
    }

    @Test(
        "Numbers compared with texts are noted",
        arguments: [
            ("SELECT count(*) FROM posts WHERE points > '100'", true),
            (#"SELECT count(*) FROM posts AS p WHERE '100'<=p."points""#, true),
            ("SELECT count(*) FROM posts WHERE POINTS = '1e2'", true),
            ("SELECT count(*) FROM posts WHERE points > 100", false),
            ("SELECT count(*) FROM posts WHERE points > 'many'", false),
            ("SELECT count(*) FROM posts WHERE title = '100' AND id = 42", false),
            ("SELECT count(*) FROM posts WHERE 'points > ''100''' <> title", false),
            // Another table has texts in a column of this name.
            ("SELECT count(*) FROM users WHERE score = '7'", false),
        ])
    func notes(sql: String, isNoted: Bool) throws {
        for command in [["sql"], ["at", "head"]] {
            let outcome = try ToolProcess.run(command + [sql, "--format", "csv"], store: folder.path())
            #expect(outcome.status == 0, "\(sql): \(outcome.errors)")
            #expect(outcome.errors.hasPrefix("note: ") == isNoted, "\(sql): \(outcome.errors)")
            #expect(!outcome.output.contains("note"))
        }
    }
}
