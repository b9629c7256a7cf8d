import Foundation
import GRDB
import TestSupport
import Testing

@testable import StorageKitTool

/// What people type who come from other tools is understood, or answered with what to type.
@Suite struct CommandWordsTests {
    @Test(
        "Mistyped words are recognized",
        arguments: [
            (["blme", "posts/b"], "Did you mean blame?"), (["help", "nope"], "There is no command \"nope\""),
            (["show", "-1mo"], "Did you mean -30d?"), (["show", "-5min"], "Did you mean -5m?"),
            (["show", "monday"], "a date"), (["show", "hed"], "Did you mean head?"), (["show", "7"], "t:7 or @7"),
            (["undo", "t:3"], "storagekit revert t:3"), (["history", "posts/A/1"], "Did you mean posts/a/1?"),
            (["adopt", "shop.db"], "-s shop.sqlite"), (["at", "t:3", "post"], "Did you mean posts?"),
            (["at", "t:3", "SELECT * FROM history_posts"], "storagekit sql"),
            (["log", "--since", "soon"], "Points look like"), (["log", "--wher", "x"], "storagekit log --help"),
            (["-s", "app.sqlite"], "storagekit log -s app.sqlite"),
            (["diff", "-1.5h", "t:3", "--exit-code"], "'-1.5h' isn't a point in history"),
            (["revert", "-1h30", "--yes"], "'-1h30' isn't a point in history"),
            (["restore-state", "-1M", "posts"], "'-1M' isn't a point in history"),
            (["restore-state", "t:3", "-1.5h"], "'-1.5h' isn't a point in history"),
            (["log", "-1.5h..", "--oneline"], "'-1.5h' isn't a point in history"),
            (["log", "-1.5h"], "'-1.5h' isn't a point in history"),
            (["at", "-1.5h", "posts"], "'-1.5h' isn't a point in history"),
            (["tag", "-2h"], "Put -- before it"), (["note", "t:3", "-2h"], "Put -- before it"),
        ])
    func mistypedWords(_ words: [String], answer: String) async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.run(words, store: words[0] == "adopt" ? nil : store.path)
        #expect([2, 3].contains(outcome.status), "\(outcome.errors)")
        #expect(outcome.errors.contains(answer), "\(words): \(outcome.errors)")
        #expect(outcome.errors.hasPrefix("error: "), "\(words): \(outcome.errors)")
        #expect(outcome.output == "")
    }

    @Test("An actor that isn't there is compared with those that are")
    func mistypedActor() async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.run(["log", "--actor", "Impor"], store: store.path)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("Did you mean --actor \"import\"?"), "\(outcome.output)")
    }

    @Test(
        "Two ways of writing mean the same",
        arguments: [
            (["log", "-2"], ["log", "-n", "2"]), (["log", "t:3"], ["log", "..t:3"]),
            (["show", "HEAD~1"], ["show", "head~1"]),
            (["show", "head^^"], ["show", "head~2"]), (["at", "t:3", "posts"], ["at", "t:3", "SELECT * FROM posts"]),
            (["--format", "jsonl", "log"], ["log", "--format", "jsonl"]),
        ])
    func sameMeaning(_ one: [String], _ other: [String]) async throws {
        let store = try await SampleStore.shared.value
        let outcomes = try [one, other].map { try ToolProcess.run($0, store: store.path) }
        #expect(outcomes[0].output == outcomes[1].output, "\(one)")
        #expect(outcomes[0].status == 0, "\(outcomes[0].errors)")
        #expect(!outcomes[0].output.isEmpty)
    }

    @Test("The store may be named before the command")
    func storeBeforeCommand() async throws {
        let store = try await SampleStore.shared.value
        for words in [["-s", store.path, "schema", "log"], ["--store=\(store.path)", "stats"]] {
            let outcome = try ToolProcess.run(words, store: nil)
            #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            #expect(!outcome.output.isEmpty)
        }
    }

    @Test("Points have a page of help")
    func helpOfPoints() throws {
        let outcome = try ToolProcess.run(["help", "points"], store: nil)
        #expect(outcome.status == 0)
        for word in ["@1234", "tag:NAME", "A..B", "%2F", "STORAGEKIT_TIME"] { #expect(outcome.output.contains(word)) }
    }

    @Test("Stores of the folder are named")
    func storesOfFolder() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(fileURLWithPath: folder.path("app.sqlite")))
        let outcome = try ToolProcess.run(["log"], store: nil, in: folder.url)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("-s app.sqlite"), "\(outcome.errors)")
    }

    /// By its name the backup would come first.
    @Test("A backup isn't suggested before the store that it was made from")
    func storeBeforeItsBackup() throws {
        let folder = try TemporaryFolder()
        func run(_ words: String...) throws -> ToolProcess.Outcome {
            try ToolProcess.run(words, store: nil, in: folder.url)
        }
        let queue = try DatabaseQueue(path: folder.path("shop.db"))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
        }
        try queue.close()
        try #require(try run("adopt", "shop.db", "-s", "shop.sqlite").status == 0)
        // Before a program has written to the store, and after it.
        for backup in ["backup.sqlite", "another.sqlite"] {
            try #require(try run("backup", backup, "-s", "shop.sqlite").status == 0)
            let outcome = try run("log")
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("add -s shop.sqlite"), "\(outcome.errors)")
            #expect(outcome.errors.contains("Here are shop.sqlite, backup.sqlite"), "\(outcome.errors)")
            try #require(
                try run("exec", "UPDATE t SET id = id + 1", "--reason", "test", "--yes", "-s", "shop.sqlite").status
                    == 0)
        }
    }
}
