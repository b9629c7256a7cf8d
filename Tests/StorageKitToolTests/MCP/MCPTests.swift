import Foundation
import StorageCore
import TestSupport
import Testing

@testable import StorageKitTool

/// `storagekit mcp` as a client sees it: a process that is asked by lines.
@Suite struct MCPTests {
    /// A query that doesn't end by itself in the time of a test.
    private static let slow =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000000) SELECT max(i) FROM n"

    private func sample() async throws -> String { try await SampleStore.shared.value.path }

    // MARK: Answers

    /// Each tool with arguments, and the command line that it stands for.
    static let calls: [(tool: String, arguments: [String: any Sendable], words: [String])] = [
        ("log", ["range": "t:2..", "targets": ["posts"], "patch": true], ["log", "-p", "t:2..", "posts"]),
        ("log", ["actor": ["anna"], "reverse": true], ["log", "--actor", "anna", "--reverse"]),
        ("history", ["target": "posts/a/1"], ["history", "posts/a/1"]),
        ("diff", ["from": "t:2", "to": "head"], ["diff", "t:2", "head"]),
        ("diff", ["from": "t:2", "stat": true], ["diff", "t:2", "--stat"]),
        ("blame", ["target": "posts/b", "column": ["title"]], ["blame", "posts/b", "--column", "title"]),
        ("blame", ["target": "posts", "at": "t:3"], ["blame", "posts", "--at", "t:3"]),
        ("grep", ["pattern": "hello", "ignore_case": true], ["grep", "hello", "-i"]),
        ("grep", ["pattern": "customer", "in": "meta"], ["grep", "customer", "--in", "meta"]),
        ("at", ["point": "t:3", "sql": "SELECT id, title FROM posts"], ["at", "t:3", "SELECT id, title FROM posts"]),
        ("at", ["point": "head", "sql": "posts"], ["at", "head", "posts"]),
        ("sql", ["sql": "SELECT _op, title FROM history_posts"], ["sql", "SELECT _op, title FROM history_posts"]),
        ("schema", ["tables": ["posts"]], ["schema", "posts"]),
        ("doctor", [:], ["doctor"]), ("tags", [:], ["tag"]), ("notes", [:], ["note"]),
    ]

    @Test("Rows are those of the command line")
    func rows() async throws {
        let store = try await sample()
        let client = try await MCPClient(store)
        for (tool, arguments, words) in Self.calls {
            let answer = try await client.call(tool, arguments)
            #expect(!answer.isError, "\(tool): \(answer.text)")
            let lines = try ToolProcess.run(words + ["--format", "jsonl"], store: store).output.split(separator: "\n")
            let expected = try lines.map { try MCPClient.object(String($0)) as NSDictionary }
            #expect(answer.rows.map { $0 as NSDictionary } == expected, "\(tool)")
            #expect(!answer.isTruncated)
            // What older clients read is the same.
            #expect(try MCPClient.object(answer.text) as NSDictionary == (answer.structured ?? [:]) as NSDictionary)
        }
        #expect(client.end() == 0)
    }

    @Test("Objects are those of the command line")
    func documents() async throws {
        let store = try await sample()
        let client = try await MCPClient(store)
        for (tool, arguments, words, list) in [
            ("show", ["point": "t:3"], ["show", "t:3"], "events"),
            ("show", ["point": "@22"], ["show", "@22"], "events"),
            ("explain", ["sql": "SELECT * FROM posts"], ["explain", "SELECT * FROM posts"], ""),
            (
                "bisect", ["sql": "SELECT count(*) > 1 FROM posts"], ["bisect", "SELECT count(*) > 1 FROM posts"], ""
            ),
            ("verify", [:], ["verify"], ""),
        ] as [(String, [String: any Sendable], [String], String)] {
            let answer = try await client.call(tool, arguments)
            #expect(!answer.isError, "\(tool): \(answer.text)")
            let line = try ToolProcess.run(words + ["--format", "jsonl"], store: store).output
            var expected = try MCPClient.object(line)
            let elements = expected.removeValue(forKey: list) as? [[String: Any]] ?? []
            expected["v"] = nil
            #expect(answer.document as NSDictionary == expected as NSDictionary, "\(tool)")
            #expect(answer.rows.map { $0 as NSDictionary } == elements.map { $0 as NSDictionary }, "\(tool)")
        }
    }

    @Test("Answers say which state they were read from")
    func state() async throws {
        let client = try await MCPClient(try await sample())
        let answer = try await client.call("at", ["point": "t:3", "sql": "posts"])
        #expect(answer.structured?["position"] as? Int == 26)
        #expect(answer.structured?["time"] as? String == "2024-05-03T22:00:00Z")
        #expect(answer.structured?["points"] as? [String: Int] == ["t:3": 18])
        let verified = try await client.call("verify")
        #expect(verified.structured?["position"] as? Int == 26)
    }

    @Test("An undo is planned, and its command works")
    func planOfUndo() async throws {
        let store = try await SampleStore()
        let before = try Data(contentsOf: URL(fileURLWithPath: store.path))
        let client = try await MCPClient(store.path)
        let plan = try await client.call("plan_undo", ["of": "import"])
        #expect(plan.document["reverts"] as? Int == 6)
        #expect(plan.rows.count == 1)
        let command = try #require(plan.structured?["command"] as? String)
        #expect(command == "storagekit undo --of=import -s \(store.path.quotedAsShellWord)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == before)
        let outcome = try ToolProcess.shell("\(command) --yes", store: nil)
        #expect(outcome.output == "t:8: 1 row deleted.\n", "\(outcome.errors)")
        // Nothing of that actor is left to undo.
        let rest = try await client.call("plan_undo", ["of": "import"])
        #expect(rest.isError || rest.structured?["command"] == nil)
    }

    // MARK: Limits

    @Test("A long answer comes in parts, of one state")
    func parts() async throws {
        let store = try await SampleStore()
        let client = try await MCPClient(store.path)
        let whole = try await client.call("log", ["schema": true])
        #expect(whole.rows.count > 4)
        var answer = try await client.call("log", ["schema": true, "limit": 2])
        var rows = answer.rows
        // Commits that come meanwhile belong to another answer.
        #expect(try ToolProcess.run(["tag", "meanwhile"], store: store.path).status == 0)
        while let cursor = answer.cursor {
            #expect(answer.isTruncated)
            answer = try await client.call("log", ["cursor": cursor])
            rows += answer.rows
        }
        #expect(rows.map { $0 as NSDictionary } == whole.rows.map { $0 as NSDictionary })
        let part = try await client.call("sql", ["sql": "SELECT 1 UNION SELECT 2", "limit": 1])
        #expect(try ToolProcess.run(["tag", "later"], store: store.path).status == 0)
        let rest = try await client.call("sql", ["cursor": try #require(part.cursor)])
        #expect(rest.isError)
        #expect(rest.text.contains("has changed"))
        let forged = try await client.call("sql", ["cursor": "sql-99"])
        #expect(forged.isError)
    }

    @Test("Answers have a limit in bytes")
    func bytes() async throws {
        let client = try await MCPClient(try await sample(), "--maximum-bytes", "1000")
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n"
        let first = try await client.call("sql", ["sql": many, "limit": 1000])
        #expect(first.isTruncated)
        #expect((50...200).contains(first.rows.count))
        let second = try await client.call("sql", ["cursor": try #require(first.cursor), "limit": 1])
        #expect(second.rows.first?["i"] as? Int == first.rows.count + 1)
        // A row that never fits is reported, and left out.
        let wide = try await client.call(
            "sql", ["sql": "SELECT hex(zeroblob(5000000)) AS x UNION ALL SELECT 'short' AS x"])
        #expect(wide.rows.isEmpty)
        #expect((wide.structured?["next"] as? String)?.contains("substr()") ?? false)
        let behind = try await client.call("sql", ["cursor": try #require(wide.cursor)])
        #expect(behind.rows.first?["x"] as? String == "short")
        let large = try await client.call("schema")
        #expect(large.isTruncated || large.rows.count == 4)
    }

    /// More rows than the command keeps in its buffer come before the error.
    @Test("Rows before an error are no answer")
    func failureAfterRows() async throws {
        let client = try await MCPClient(try await sample(), "--maximum-bytes", "1000000")
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)"
        let number = "abs(CASE WHEN i = 9 THEN -9223372036854775808 ELSE i END)"
        let answer = try await client.call(
            "sql", ["sql": "\(rows) SELECT hex(zeroblob(10000)) AS x, \(number) AS y FROM n"])
        #expect(answer.isError)
        #expect(answer.text.contains("integer overflow"), "\(answer.text.prefix(200))")
        // What was asked for was found before.
        let part = try await client.call(
            "sql", ["sql": "\(rows) SELECT hex(zeroblob(50000)) AS x, \(number) AS y FROM n", "limit": 1])
        #expect(!part.isError, "\(part.text.prefix(200))")
        #expect(part.isTruncated)
    }

    @Test("A call that fails is an error where SIGCHLD is ignored at the start")
    func ignoredEndOfProcesses() async throws {
        let client = try await MCPClient(try await sample(), ignoresEndOfProcesses: true)
        let answer = try await client.call("sql", ["sql": "SELECT missing FROM posts"])
        #expect(answer.isError, "\(answer.text)")
        #expect(answer.text.contains("missing"), "\(answer.text)")
        let rows = try await client.call("sql", ["sql": "SELECT 1 AS one"])
        #expect(rows.rows.first?["one"] as? Int == 1, "\(rows.text)")
    }

    @Test("A finding is an answer, whatever status the command ends with")
    func findings() async throws {
        let store = try await SampleStore()
        let change = try ToolProcess.run(
            ["exec", "UPDATE posts SET title = 'later' WHERE id = 'a/1'", "--yes"], store: store.path)
        #expect(change.status == 0, "\(change.errors)")
        let client = try await MCPClient(store.path)
        let plan = try await client.call("plan_undo", ["of": "ben"])
        #expect(!plan.isError, "\(plan.text)")
        #expect((plan.document["conflicts"] as? [Any])?.isEmpty == false, "\(plan.text)")
        try store.damage("UPDATE posts SET views = 999 WHERE id = 'a/1'")
        let verified = try await client.call("verify")
        #expect(!verified.isError, "\(verified.text)")
        #expect(verified.document["ok"] as? Bool == false)
        let checks = try await client.call("doctor")
        #expect(!checks.isError, "\(checks.text)")
        #expect(checks.rows.contains { $0["status"] as? String == "fail" })
    }

    @Test("A call that takes too long is ended, and says so")
    func time() async throws {
        let client = try await MCPClient(try await sample(), "--time-limit", "1.5")
        let answer = try await client.call("sql", ["sql": Self.slow])
        #expect(answer.isError)
        #expect(answer.text.contains("No answer after 1.5 seconds."))
        #expect(try children(of: client.processIdentifier).isEmpty)
        // The next call has a limit of its own, which a busy machine may exceed as well.
        try await eventually(within: .seconds(600)) {
            let next = try await client.call("sql", ["sql": "SELECT 1 AS one"])
            return !next.isError && next.rows.first?["one"] as? Int == 1
        }
    }

    @Test("A cancelled call ends without an answer, and progress is reported until then")
    func cancelling() async throws {
        let client = try await MCPClient(try await sample())
        try client.send(
            #"{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"sql","arguments":{"sql":"\#(Self.slow)"},"_meta":{"progressToken":"p"}}}"#
        )
        let progress = try await client.next()
        #expect(progress["method"] as? String == "notifications/progress")
        let parameters = try #require(progress["params"] as? [String: Any])
        #expect(parameters["progressToken"] as? String == "p")
        // The seconds that have passed: one, and more where the server had to wait for its turn.
        #expect((1...60).contains(parameters["progress"] as? Int ?? 0), "\(parameters)")
        #expect(try !children(of: client.processIdentifier).isEmpty)
        try client.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}"#)
        try await eventually { try children(of: client.processIdentifier).isEmpty }
        #expect(try await client.request("ping")["result"] != nil)
        // The id is free again.
        try client.send(#"{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"tags"}}"#)
        #expect(try await client.next()["id"] as? String == "slow")
    }

    @Test("Input that ends leaves no process behind")
    func endOfInput() async throws {
        let client = try await MCPClient(try await sample())
        try client.send(
            #"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"sql","arguments":{"sql":"\#(Self.slow)"}}}"#
        )
        try await eventually { try !children(of: client.processIdentifier).isEmpty }
        let command = try #require(children(of: client.processIdentifier).first)
        #expect(client.end() == 0)
        try await eventually { kill(command, 0) != 0 }
    }

    @Test("A signal leaves neither a process nor a temporary file", arguments: [SIGTERM, SIGINT, SIGHUP])
    func signals(number: Int32) async throws {
        let folder = try TemporaryFolder()
        let client = try await MCPClient(try await sample(), temporary: folder.url.path)
        for id in 1...6 {
            try client.send(
                #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"sql","arguments":{"sql":"\#(Self.slow)"}}}"#
            )
        }
        try await eventually { try !children(of: client.processIdentifier).isEmpty }
        #expect(try !FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        let commands = try children(of: client.processIdentifier)
        client.kill(number)
        #expect(client.end() == 128 + number)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        for command in commands { try await eventually { kill(command, 0) != 0 } }
    }

    /// The server itself ignores these signals, so that only its handlers receive them.
    @Test("A signal ends the command of a call", arguments: [SIGTERM, SIGHUP])
    func signalToCommand(number: Int32) async throws {
        let client = try await MCPClient(try await sample(), "--time-limit", "120")
        try client.send(
            #"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"sql","arguments":{"sql":"\#(Self.slow)"}}}"#
        )
        try await eventually { try !children(of: client.processIdentifier).isEmpty }
        kill(try #require(children(of: client.processIdentifier).first), number)
        let answer = try MCPToolAnswer(try #require(try await client.next()["result"] as? [String: Any]))
        #expect(answer.isError, "\(answer.text)")
        #expect(!answer.text.contains("No answer after"), "\(answer.text)")
    }

    @Test("A pipe that ends is answered", .timeLimit(.minutes(10)))
    func pipe() async throws {
        let lines = """
            {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}
            {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sql","arguments":{"sql":"SELECT 1"}}}
            """
        let store = try await sample()
        // The server waits two seconds for its calls after the end, in which a busy machine may not even have begun one.
        try await eventually(within: .seconds(500)) {
            let outcome = try ToolProcess.run(["mcp"], store: store, input: lines)
            #expect(outcome.status == 0)
            #expect(outcome.errors.isEmpty)
            return outcome.output.split(separator: "\n").count == 2
        }
    }

    /// The processes that a process has started.
    private func children(of process: Int32) throws -> [Int32] {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        return threads.flatMap { thread in
            // A thread that has ended has none.
            let text = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").compactMap { Int32($0) }
        }
    }
}
