import Foundation
import GRDB
import TestSupport
import Testing

/// What people do at the command line, typed as they type it first: it works, or its error has the line that does.
@Suite struct TaskTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let guide = root.appendingPathComponent(
        "Sources/StorageKit/Documentation.docc/Guides/ThirtyTasks.md")

    @Test("The thirty tasks of the guide print what the guide says")
    func guideTasks() throws {
        let page = try String(contentsOf: Self.guide, encoding: .utf8)
        #expect(page.matches(of: #/(?m)^### \d+\. /#).count == 30)
        let script = TaskScript(page: page)
        #expect(script.steps.count >= 30)
        try run(script)
    }

    @Test("First guesses from git, psql, sqlite3 and jq work, or lead to the right line")
    func firstGuesses() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "first-guesses.txt")
        let script = TaskScript(session: try String(contentsOf: file, encoding: .utf8))
        #expect(script.steps.count >= 60)
        try run(script)
    }

    @Test("Patterns are held against outputs")
    func patterns() {
        func matches(_ lines: [String], _ expected: [String]) -> Bool { TaskScript.matches(lines[...], expected[...]) }
        #expect(matches(["a 12 b", "c"], ["a … b", "c"]))
        #expect(matches(["x", "y", "z"], ["…", "z"]))
        #expect(matches(["t:7  2024 anna"], ["t:7  … anna"]))
        #expect(!matches(["a 12 c"], ["a … b"]))
        #expect(!matches(["a", "b"], ["a"]))
        #expect(!matches(["a"], ["a", "b"]))
        #expect(!matches(["ab"], ["a"]))
    }

    /// Types the commands, one after the other, in a folder with a database.
    private func run(_ script: TaskScript) throws {
        let folder = try TemporaryFolder()
        try makeShop(at: folder.path("shop.db"))
        // What was exported in one block holds in the next.
        var exports: [String] = []
        for step in script.steps {
            let command = (exports + [step.command]).joined(separator: "\n")
            exports += step.command.split(separator: "\n").filter { $0.hasPrefix("export ") }.map(String.init)
            let outcome = try ToolProcess.shell("cd '\(folder.url.path)'\n{\n\(command)\n} 2>&1", store: nil)
            guard let expected = step.expected else {
                #expect(outcome.status == 0, "\(step.command)\n\(outcome.output)")
                continue
            }
            let lines = outcome.output.split(separator: "\n").map(String.init)
            #expect(
                TaskScript.matches(lines[...], expected.filter { !$0.isEmpty }[...]),
                "$ \(step.command)\n\(outcome.output)--- expected\n\(expected.joined(separator: "\n"))")
        }
    }

    private func makeShop(at path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT);
                    CREATE TABLE orders (
                      id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers, status TEXT NOT NULL, total INTEGER);
                    INSERT INTO customers VALUES (1, 'Anna', 'anna@example.org'), (2, 'Ben', NULL);
                    INSERT INTO orders VALUES (1, 1, 'open', 120), (2, 1, 'open', 80), (3, 2, 'open', 40);
                    """)
        }
        try queue.close()
    }
}
