import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageKit
import StorageLog
import StorageProjections
import TestSupport
import Testing

@testable import StorageKitTool

/// Everything that writes can be tried first, takes a reason, and is in the log with the user who did it.
@Suite struct OperationTests {
    @StorageEntity(table: "articles")
    struct Article {
        var id: Int
        var title: String
    }

    /// A command that writes.
    struct Writer: CustomTestStringConvertible, Sendable {
        enum Store { case sample, damaged, kept, projections, restored, undone }

        let arguments: [String]
        var store = Store.sample
        /// What it is recorded as; nil where it makes commits of its own.
        var operation: String?
        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let writers: [Writer] = [
        Writer(arguments: ["import", "more.jsonl"], operation: "import"),
        Writer(arguments: ["rebuild"], operation: "rebuild"),
        Writer(arguments: ["rebuild", "posts", "--compare", "--swap"], operation: "rebuild"),
        Writer(arguments: ["rebuild", "--abandon"], store: .kept, operation: "rebuild --abandon"),
        Writer(arguments: ["doctor", "--fix"], store: .damaged, operation: "doctor --fix"),
        Writer(arguments: ["projections", "pause", "titles"], store: .projections, operation: "projections pause"),
        Writer(arguments: ["projections", "resume", "held"], store: .projections, operation: "projections resume"),
        Writer(arguments: ["projections", "reset", "titles"], store: .projections, operation: "projections reset"),
        Writer(arguments: ["restore", "store.sqlite", "-o", "new.sqlite"], store: .restored, operation: "restore"),
        Writer(arguments: ["adopt", "foreign.sqlite", "-s", "new.sqlite"], store: .restored),
        Writer(arguments: ["tag", "v1"]), Writer(arguments: ["note", "t:2", "text"]),
        Writer(arguments: ["revert", "t:4", "--yes"]), Writer(arguments: ["undo", "--yes"]),
        Writer(arguments: ["redo", "--yes"], store: .undone),
        Writer(arguments: ["restore-state", "t:2", "--yes"]),
    ]

    /// Makes the stores that a command works on, in the folder that it runs in.
    private func prepare(_ writer: Writer) async throws -> SampleStore {
        let sample = try await SampleStore()
        let line = #"{"tx":1,"at":"2024-04-01T10:00:00Z","op":"insert","table":"more","id":"1","row":{"n":1}}"#
        try Data(line.utf8).write(to: sample.folder.url.appendingPathComponent("more.jsonl"))
        switch writer.store {
        case .sample: break
        case .damaged: try sample.damage("UPDATE posts SET title = 'forged' WHERE id = 'b'")
        case .undone: #expect(try ToolProcess.run(["undo", "--yes"], store: sample.path).status == 0)
        case .kept: #expect(try ToolProcess.run(["rebuild", "posts", "--keep"], store: sample.path).status == 0)
        case .restored:
            let queue = try DatabaseQueue(path: sample.folder.path("foreign.sqlite"))
            try await queue.write { db in
                try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)")
            }
            try queue.close()
        case .projections:
            let storage = try StorageKit.start(at: URL(fileURLWithPath: sample.path)) { schema in
                schema.autoSchema(ArticleRecord.self)
                for name in ["titles", "held"] { schema.addProjection(Titles(name: name, poison: ""), mode: .async) }
            }.facade
            try await storage.projections.pause("held")
            try await storage.waitForProjections(
                through: try await storage.save(Article(id: 1, title: "one")), of: "titles")
            try await storage.close()
        }
        return sample
    }

    private func run(_ arguments: [String], _ sample: SampleStore) throws -> ToolProcess.Outcome {
        try ToolProcess.run(arguments, store: sample.path, in: sample.folder.url)
    }

    /// Everything that the files of a folder hold, but for what only opening a store for writing changes.
    private func contents(_ folder: TemporaryFolder) throws -> [String: [String]] {
        var contents: [String: [String]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        where name.hasSuffix(".sqlite") {
            let queue = try DatabaseQueue(path: folder.path(name))
            contents[name] = try queue.read { db in
                let tables = try String.fetchAll(
                    db,
                    sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'storage_meta' ORDER BY name")
                return try tables.flatMap { table in
                    try Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\"").map { "\(table) \($0)" }
                }
            }
            try queue.close()
        }
        return contents
    }

    @Test("A dry run writes nothing", arguments: writers)
    func dryRunWritesNothing(writer: Writer) async throws {
        let sample = try await prepare(writer)
        let before = try contents(sample.folder)
        let tried = try run(writer.arguments + ["--dry-run"], sample)
        // The answer of the doctor is about what it found.
        #expect(tried.status == (writer.store == .damaged ? 5 : 0), "\(tried.errors)")
        #expect(!tried.output.isEmpty)
        #expect(try contents(sample.folder) == before)
    }

    @Test("The log says who did it and why", arguments: writers)
    func operationsAreLogged(writer: Writer) async throws {
        let sample = try await prepare(writer)
        let done = try run(writer.arguments + ["--reason", "it was asked for"], sample)
        #expect(done.status == 0, "\(done.output)\(done.errors)")
        let store = writer.arguments.contains("new.sqlite") ? sample.folder.path("new.sqlite") : sample.path
        let last = try ToolProcess.run(["log", "--schema", "-p", "-n", "1", "--format", "jsonl"], store: store).output
        #expect(last.contains(#""actor":"\#(NSUserName())","app":"storagekit","reason":"it was asked for""#), "\(last)")
        guard let operation = writer.operation else { return }
        #expect(last.contains(#""changes":{"storage_operation":{"insert":1,"update":0,"delete":0}}"#), "\(last)")
        #expect(last.contains(#""command":"\#(operation)""#), "\(last)")
        #expect(try ToolProcess.run(["verify"], store: store).status == 0)
    }

    /// Commands that scripts may call as they are, and that ask a person before something could be lost.
    static let askingWriters: [Writer] = [
        Writer(arguments: ["projections", "reset", "titles"], store: .projections),
        Writer(arguments: ["doctor", "--fix"], store: .damaged),
        Writer(arguments: ["rebuild", "--abandon"], store: .kept),
        Writer(arguments: ["backup", "foreign.sqlite", "--force"], store: .restored),
        Writer(arguments: ["restore", "store.sqlite", "-o", "foreign.sqlite", "--force"], store: .restored),
        Writer(arguments: ["adopt", "foreign.sqlite", "-s", "store.sqlite", "--force"], store: .restored),
    ]

    @Test("A person is asked before something is lost", arguments: askingWriters)
    func confirmation(writer: Writer) async throws {
        let sample = try await prepare(writer)
        let before = try contents(sample.folder)
        func type(_ answer: String, _ arguments: [String]) throws -> ToolProcess.Outcome {
            try ToolProcess.onTerminal(arguments, store: sample.path, in: sample.folder.url, answer: answer)
        }
        let refused = try type("n\n", writer.arguments)
        #expect(refused.status == 1, "\(refused.errors)")
        #expect(refused.errors.contains("[y/N]"), "\(refused.errors)")
        #expect(try contents(sample.folder) == before)
        let unasked = try type("n\n", writer.arguments + ["--yes"])
        #expect(unasked.status == 0, "\(unasked.output)\(unasked.errors)")
        #expect(!unasked.errors.contains("[y/N]"), "\(unasked.output)\(unasked.errors)")
        #expect(try contents(sample.folder) != before)
    }

    @Test("An operation isn't a commit of data")
    func operationIsNoDataCommit() async throws {
        let sample = try await SampleStore()
        let questions = [
            ["undo", "--dry-run"], ["log", "--format", "jsonl"], ["show", "head~1"], ["export"], ["tail"],
        ]
        let before = try questions.map { try run($0, sample).output }
        #expect(try run(["rebuild", "--reason", "it was asked for"], sample).status == 0)
        for (question, answer) in zip(questions, before) { #expect(try run(question, sample).output == answer) }
        let reported = try run(["log", "--table", "storage_operation", "--oneline"], sample)
        #expect(reported.status == 0)
        #expect(reported.output.contains("it was asked for"))
    }

    @Test("What changes nothing isn't recorded")
    func noChangeIsNotRecorded() async throws {
        let sample = try await SampleStore()
        let head = try run(["stats", "--format", "json"], sample).output.prefix(40)
        let idle = [
            ["rebuild", "--compare"], ["rebuild", "--abandon"], ["doctor", "--fix"], ["backup", "b.sqlite"],
        ]
        for arguments in idle {
            #expect(try run(arguments, sample).status == 0)
        }
        #expect(try run(["stats", "--format", "json"], sample).output.prefix(40) == head)
        let projections = try await prepare(Writer(arguments: [], store: .projections))
        for arguments in [["pause", "held"], ["resume", "titles"]] {
            #expect(try run(["projections"] + arguments, projections).status == 0)
        }
        #expect(try run(["log", "--table", "storage_operation"], projections).status == 1)
        for _ in 0..<2 { #expect(try run(["projections", "reset", "titles"], projections).status == 0) }
        let once = try run(["log", "--table", "storage_operation", "--oneline"], projections).output
        #expect(once.split(separator: "\n").count == 1, "what is reset already isn't reset again")
    }

    @Test("A reason that the log can't hold stops before anything is done")
    func oversizedReason() async throws {
        let sample = try await SampleStore()
        let before = try contents(sample.folder)
        let refused = try run(["rebuild", "--reason", String(repeating: "x", count: 100_000)], sample)
        #expect(refused.status == 2, "\(refused.errors)")
        #expect(refused.errors.contains("reason"), "\(refused.errors)")
        #expect(try contents(sample.folder) == before)
        for arguments in [["projections", "--dry-run"], ["doctor", "--yes"]] {
            #expect(try run(arguments, sample).status == 2)
        }
    }

    // MARK: Imports

    private func line(_ tx: Int, _ op: String, _ id: Int, _ n: Int, at: String) -> String {
        #"{"tx":\#(tx),"at":"\#(at)","actor":"anna","op":"\#(op)","table":"t","id":"\#(id)","row":{"n":\#(n)}}"#
    }

    /// The history's own commits keep their numbers, times and authors; the head is still theirs; and a part of the history
    /// that is imported later keeps its times although it is older than the import.
    @Test("A recorded import leaves the history alone")
    func recordedImport() async throws {
        let folder = try TemporaryFolder()
        let store = folder.path()
        let first = [
            line(1, "insert", 1, 1, at: "2019-01-01T00:00:00Z"), line(2, "update", 1, 2, at: "2019-01-02T00:00:00Z"),
        ]
        let second = [
            line(1, "update", 1, 3, at: "2019-01-03T00:00:00Z"), line(2, "insert", 2, 1, at: "2019-01-04T00:00:00Z"),
        ]
        for (name, lines) in [("first.jsonl", first), ("second.jsonl", second)] {
            try Data(lines.joined(separator: "\n").utf8).write(to: folder.url.appendingPathComponent(name))
        }
        func run(_ arguments: String...) throws -> ToolProcess.Outcome { try ToolProcess.run(arguments, store: store) }
        #expect(try run("import", folder.path("first.jsonl"), "--reason", "part one").status == 0)
        #expect(try run("show", "head", "--format", "json").output.contains(#""commit":2"#))
        #expect(try run("show", "head~1", "--format", "json").output.contains(#""commit":1"#))
        #expect(try run("diff", "head~1", "--format", "jsonl").output.contains(#""old":{"n":1},"new":{"n":2}"#))
        #expect(try run("log", "--format", "jsonl").output.split(separator: "\n").count == 2)
        let next = try run("import", folder.path("second.jsonl"))
        #expect(next.status == 0, "\(next.output)")
        #expect(!next.output.contains("earlier time"), "\(next.output)")
        let exported = try run("export").output.split(separator: "\n")
        let times = try exported.map { try #require($0.firstMatch(of: /"at":"([^"]+)"/)).output.1 }
        #expect(times == (1...4).map { "2019-01-0\($0)T00:00:00Z" })
        #expect(exported.allSatisfy { $0.contains(#""actor":"anna""#) })
        let again = try run("import", folder.path("second.jsonl"))
        #expect(again.status == 0)
        #expect(again.output.contains("imported 0 operations"))
        let operations = try run("log", "--table", "storage_operation", "-p", "--format", "jsonl").output
        #expect(operations.split(separator: "\n").count == 2, "an import of nothing is none")
        let year = String(Timestamp.text(SystemTime.now).prefix(4))
        #expect(operations.contains(#""time":"2019-01-02T00:00:00Z""#))
        #expect(operations.contains(#""at":"\#(year)-"#))
        #expect(operations.contains(#""subject":"first.jsonl""#))
        #expect(operations.contains(#""reason":"part one""#))
        #expect(try run("undo", "--yes").status == 0)
        #expect(try run("at", "head", "SELECT id FROM t", "--format", "csv").output == "id\n1\n")
    }

    @Test("An import that a bad line ends is recorded as a part")
    func partialImportIsRecorded() async throws {
        let folder = try TemporaryFolder()
        let lines = [
            line(1, "insert", 1, 1, at: "2019-01-01T00:00:00Z"), line(2, "insert", 1, 1, at: "2019-01-02T00:00:00Z"),
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: folder.url.appendingPathComponent("bad.jsonl"))
        let stopped = try ToolProcess.run(["import", folder.path("bad.jsonl")], store: folder.path())
        #expect(stopped.status == 7)
        let reported = try ToolProcess.run(
            ["log", "--table", "storage_operation", "-p", "--format", "jsonl"], store: folder.path())
        #expect(reported.output.contains(#"{\"complete\":false,\"commits\":1,\"inserts\":1,"#), "\(reported.output)")
        // A file of nothing but a bad line changes nothing that could be recorded, here in an empty store.
        try Data().write(to: folder.url.appendingPathComponent("none.jsonl"))
        #expect(
            try ToolProcess.run(["import", folder.path("none.jsonl")], store: folder.path("w.sqlite")).status == 0)
        try Data("{".utf8).write(to: folder.url.appendingPathComponent("worse.jsonl"))
        #expect(
            try ToolProcess.run(["import", folder.path("worse.jsonl")], store: folder.path("w.sqlite")).status == 7)
        let empty = try ToolProcess.run(["stats", "--format", "json"], store: folder.path("w.sqlite"))
        #expect(empty.output.contains(#""commits":0"#), "\(empty.output)")
    }

    // MARK: Points

    /// `head~N` counts commits of data and of the schema, however many tags, notes and operations stand between them.
    @Test("Points skip annotations", arguments: [1, 3, 1_024])
    func pointsSkipAnnotations(segmentLength: Int) async throws {
        let sample = try await SampleStore(segmentLength: segmentLength)
        let engine = try SampleStore.open(sample.path, segmentLength: segmentLength)
        var wanted = Array(Int64(1)...7)
        for round in 0..<5 {
            for number in 0..<3 {
                _ = try await engine.tag("tag-\(round)-\(number)", at: .head, metadata: CommitMetadata())
                _ = try await engine.record(StorageOperation("rebuild"), metadata: CommitMetadata())
            }
            guard round < 4 else { break }
            let receipt = try await engine.commit(CommitMetadata()) { _, db in
                for id in [100, 200] {
                    try db.execute(sql: "INSERT INTO users(id, name) VALUES (?, 'new')", arguments: [id + round])
                }
            }
            wanted.append(try #require(receipt.commit))
        }
        try await engine.seal()
        let numbers = wanted
        try await engine.readHistory { points in
            #expect(try points.commit(of: .head).info.number == numbers.last)
            for (back, number) in numbers.reversed().enumerated() {
                #expect(try points.commit(of: .beforeHead(commits: Int64(back))).info.number == number, "head~\(back)")
            }
            let last = try points.commit(of: .head).positions.upperBound
            #expect(try points.position(of: .beforeHead(commits: 1)) < last)
            #expect(try points.position(of: .head) > last)
            #expect(try points.position(of: .beforeHead(commits: Int64(numbers.count))) == 0)
            let beyond = #expect(throws: CommandError.self) {
                try points.position(of: .beforeHead(commits: Int64(numbers.count + 1)))
            }
            #expect(beyond?.why.contains("has \(numbers.count) commits") ?? false)
            let tagged = try points.commit(of: .beforeTag("tag-2-1", commits: 3)).info.number
            #expect(tagged == numbers[numbers.count - 6])
        }
        try await engine.close()
    }
}
