import Foundation
import GRDB
import TestSupport
import Testing

@testable import StorageKitTool

/// Tab completes what a store has, in the shells that people use.
@Suite struct CompletionTests {
    /// Keys with everything that a shell, a target or a terminal gives a meaning to; each begins differently.
    static let keys = [
        "a b", "it's", "say \"hi\"", "x/y", "p,q", "é t", "日本 語", "$HOME", "k`d`", "100%", "c#d", "semi;colon&|",
        "star*?[", "back\\slash", "t:1=2", "~home", "!bang", "(paren)", "-2h", "#hash", "{b,c}", "<in>",
    ]

    /// A store with such keys, and one with numbers.
    static func store(_ name: String, in folder: TemporaryFolder, table: String, keys: [String]) throws {
        let lines = keys.enumerated().map { index, key in
            let object: [String: Any] = [
                "tx": index + 1, "at": "2024-05-01T10:00:00Z", "actor": index.isMultiple(of: 2) ? "anna b" : "zoë",
                "op": "insert", "table": table, "id": key, "row": ["title": "T", "long name": "x"],
            ]
            let data = try? JSONSerialization.data(withJSONObject: object)
            return data.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        let file = folder.path("history.jsonl")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
        let outcome = try ToolProcess.run(["import", file], store: folder.path(name))
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// What the tool offers at the end of a line, without descriptions.
    static func offered(_ line: String, store: String?, shell: String = "fish", in folder: URL? = nil) throws
        -> [String]
    {
        let outcome = try ToolProcess.run(["complete", shell, "--", line], store: store, in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
        return outcome.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
    }

    @Test("Values are offered where they fit")
    func valuesWhereTheyFit() async throws {
        let sample = try await SampleStore()
        let store = sample.path
        #expect(try ToolProcess.run(["tag", "v1", "t:3"], store: store).status == 0)
        func offered(_ line: String) throws -> [String] { try Self.offered("storagekit " + line, store: store) }
        #expect(try offered("hist") == ["history"])
        #expect(try offered("help po") == ["points"])
        #expect(try offered("log --onel") == ["--oneline"])
        #expect(try offered("log --format js") == ["jsonl", "json"])
        #expect(try offered("log --format=js") == ["--format=jsonl", "--format=json"])
        #expect(try offered("-s \(store) blame po") == ["posts", "posts/"])
        #expect(try offered("blame -s \(store) us") == ["users", "users/"])
        #expect(try offered("history posts/") == ["posts/a/1", "posts/b"])
        #expect(try offered("history posts/b#v") == ["posts/b#views"])
        #expect(try offered("history seats/") == ["seats/A,"])
        #expect(try offered("history seats/A,") == ["seats/A,1", "seats/A,2"])
        #expect(try offered("history users/7") == ["users/7"])
        #expect(try offered("log --actor a") == ["anna"])
        #expect(try offered("log --table posts --column ti") == ["title"])
        #expect(try offered("log users --column na") == ["name"])
        #expect(try offered("show h") == ["head"])
        #expect(try offered("diff t:2 po") == ["posts", "posts/"])
        #expect(try offered("diff tag:v") == ["tag:v1"])
        #expect(try offered("log t:2..tag:v") == ["t:2..tag:v1"])
        #expect(try offered("at t:2 se") == ["seats"])
        #expect(try offered("rebuild se") == ["seats"])
        #expect(try offered("schema diff head~3") == ["head~3"])
        #expect(try offered("schema l") == ["log"])
        #expect(try offered("tag v") == ["v1"])
        #expect(try offered("log -- po") == ["posts", "posts/"])
        #expect(try offered("sql 'SELECT ti") == ["SELECT title", "SELECT title "], "two keep the mark open")
        #expect(try offered("sql 'select vi").first == "select views")
        #expect(try offered("sql 'SELECT * FROM po").first == "SELECT * FROM posts")
        #expect(try offered("sql 'SELECT na FROM users WHER").first == "SELECT na FROM users WHERE")
        #expect(try offered("at t:2 'SELECT ti").first == "SELECT title")
        #expect(try offered("bisect 'SELECT count(*) FROM us").first == "SELECT count(*) FROM users")
        #expect(try offered("log users --where na") == ["name"])
        #expect(try offered("sql SELECT") == [], "a statement is one word, in quotation marks")
        #expect(try offered("grep po") == [])
        #expect(try offered("completions f") == ["fish"])
        #expect(try offered("show t:").contains("t:1"))
        #expect(try offered("log --since ").contains("yesterday"))
    }

    @Test("Every option and argument with a value is known to completion")
    func everyValueIsKnown() {
        func check(_ command: CompletedCommand, _ path: [String]) {
            for argument in command.arguments() where argument.shouldDisplay && argument.allValues == nil {
                let names = (argument.names ?? []).map(\.text)
                switch argument.kind {
                case .flag: break
                case .option:
                    #expect(names.contains { CompletedValue.options[$0] != nil }, "\(path) \(names)")
                case .positional:
                    #expect(CompletedValue.arguments[path.joined(separator: " ")] != nil, "\(path)")
                }
            }
            for part in command.subcommands { check(part, path + [part.name]) }
        }
        check(CompletedCommand(StorageKitTool.self), [])
    }

    @Test("Keys are found by their beginning, and never more than a few")
    func keysByBeginning() throws {
        let folder = try TemporaryFolder()
        try Self.store("numbers.sqlite", in: folder, table: "n", keys: (1...3000).map { "key-\($0)" })
        func offered(_ line: String) throws -> [String] {
            try Self.offered("storagekit history n/" + line, store: folder.path("numbers.sqlite"))
        }
        #expect(try offered("").count == 50)
        #expect(try offered("key-299").count == 11)
        #expect(try offered("key-3000") == ["n/key-3000"])
        #expect(try offered("none") == [])
        try DatabaseQueue(path: folder.path("i.db")).write { db in
            try db.execute(sql: "CREATE TABLE i(id INTEGER PRIMARY KEY)")
            try db.execute(sql: "INSERT INTO i VALUES (4), (42), (43), (420), (4200), (-4), (-42)")
        }
        #expect(try ToolProcess.run(["adopt", folder.path("i.db")], store: folder.path("i.sqlite")).status == 0)
        func whole(_ line: String) throws -> [String] {
            try Self.offered("storagekit history i/" + line, store: folder.path("i.sqlite"))
        }
        #expect(try whole("4") == ["i/4", "i/42", "i/43", "i/420", "i/4200"])
        #expect(try whole("42") == ["i/42", "i/420", "i/4200"])
        #expect(try whole("-4") == ["i/-4", "i/-42"])
    }

    @Test("Stores and other files are offered by their paths")
    func files() async throws {
        let folder = try TemporaryFolder()
        let store = try await SampleStore.shared.value.path
        try FileManager.default.createDirectory(atPath: folder.path("sub dir"), withIntermediateDirectories: false)
        for (name, source) in [("app.sqlite", store), ("sub dir/b.sqlite", store)] {
            try FileManager.default.copyItem(atPath: source, toPath: folder.path(name))
        }
        try Data("{}".utf8).write(to: URL(fileURLWithPath: folder.path("a.jsonl")))
        func offered(_ line: String) throws -> [String] {
            try Self.offered("storagekit " + line, store: nil, in: folder.url)
        }
        #expect(try offered("log -s ") == ["app.sqlite", "sub dir/"])
        #expect(try offered("log --store=a") == ["--store=app.sqlite"])
        #expect(try offered("log -s 'sub dir/") == ["sub dir/b.sqlite"])
        #expect(try offered("import a") == ["a.jsonl", "app.sqlite"])
        #expect(try offered("log po") == [], "no store is named")
        #expect(try offered("log -s app.sqlite po") == ["posts", "posts/"])
        #expect(try offered("log -s app.sqlite --no") == ["--no-pager"])
    }

    @Test("A store that can't be read completes nothing, and nothing waits for a lock")
    func unreadableStores() async throws {
        let folder = try TemporaryFolder()
        try Data("not a database".utf8).write(to: URL(fileURLWithPath: folder.path("text.sqlite")))
        let line = "storagekit history posts/"
        #expect(try Self.offered(line, store: folder.path("missing.sqlite")) == [])
        #expect(!FileManager.default.fileExists(atPath: folder.path("missing.sqlite")))
        #expect(try Self.offered(line, store: folder.path("text.sqlite")) == [])
        #expect(try Self.offered(line, store: folder.url.path) == [])
        let sample = try await SampleStore()
        let before = try Data(contentsOf: URL(fileURLWithPath: sample.path))
        #expect(try Self.offered(line, store: sample.path) == ["posts/a/1", "posts/b"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: sample.path)) == before)
        let other = try DatabaseQueue(path: sample.path)
        try await other.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
            #expect(try Self.offered(line, store: sample.path) == [])
            try db.execute(sql: "ROLLBACK")
        }
    }

    @Test(
        "The shells complete whole words",
        .enabled(if: TerminalSession.isAvailable, "tmux isn't installed"), arguments: ShellSession.names)
    func shellsCompleteWords(_ shell: String) async throws {
        guard TerminalSession.isInstalled(shell) else {
            print("skipped: \(shell) isn't installed")
            return
        }
        let folder = try TemporaryFolder()
        try Self.store("my store.sqlite", in: folder, table: "posts", keys: Self.keys)
        let typist = try await ShellTypist(shell, in: folder)
        let store = "-s 'my store.sqlite'"
        func expect(_ line: String, then end: String = "", _ words: [String]) async throws {
            let typed = try await typist.words(completing: line, then: end)
            #expect(typed == words, "\(shell): \(line)")
        }
        try await expect("storagekit hist", ["storagekit", "history"])
        try await expect("storagekit log --onel", ["storagekit", "log", "--oneline"])
        try await expect("storagekit log -s my", ["storagekit", "log", "-s", "my store.sqlite"])
        try await expect(
            "storagekit log \(store) --actor a", ["storagekit", "log", "-s", "my store.sqlite", "--actor", "anna b"])
        try typist.run(shell == "fish" ? "set S 'my store.sqlite'" : "S='my store.sqlite'")
        try await expect("storagekit show -s \"$S\" he", ["storagekit", "show", "-s", "my store.sqlite", "head"])
        // The shells hold this variable themselves and don't export it; fish has none.
        let user = shell == "fish" ? "" : "\(getuid())"
        try await expect(
            "storagekit log --actor \"$UID\" -s \"$S\" --column lo",
            ["storagekit", "log", "--actor", user, "-s", "my store.sqlite", "--column", "long name"])
        try typist.run(
            (shell == "fish" ? "set -gx STORAGEKIT_STORE " : "export STORAGEKIT_STORE=") + "'my store.sqlite'")
        for key in Self.keys {
            let target = TargetArgument(table: "posts", id: key).description
            // As much as is needed to tell it from the others, without what only its end has.
            let start = target.dropFirst("posts/".count)
            let typed = String(start.prefix(start.hasPrefix("%") ? 3 : start.hasPrefix("s") ? 2 : 1))
            try await expect(
                "storagekit history \(typist.quoted("posts/" + typed))", ["storagekit", "history", target])
        }
        try await expect("storagekit history 'posts/a", ["storagekit", "history", "posts/a b"])
        try await expect("storagekit history \"posts/say", ["storagekit", "history", "posts/say \"hi\""])
        try await expect("storagekit history posts/a\\ b#ti", ["storagekit", "history", "posts/a b#title"])
        try await expect("storagekit log --store=my", ["storagekit", "log", "--store=my store.sqlite"])
        try await expect("storagekit log --column lo", ["storagekit", "log", "--column", "long name"])
        // Typed on, the quotation mark still being open.
        for quote in ["\"", "'"] {
            try await expect(
                "storagekit sql \(quote)SELECT ti", then: " FROM posts\(quote)",
                [
                    "storagekit", "sql", "SELECT title FROM posts",
                ])
        }
    }
}

/// Somebody at the prompt of a shell, who presses Tab and looks at what the line has become.
private struct ShellTypist {
    private let shell: ShellSession
    private var session: TerminalSession { shell.session }
    private var file: String { session.folder.path("words") }

    init(_ shell: String, in folder: TemporaryFolder) async throws {
        let script = folder.path(shell == "zsh" ? "_storagekit" : "completions")
        let text = try ToolProcess.run(["completions", shell], store: nil).output
        try Data(text.utf8).write(to: URL(fileURLWithPath: script))
        // Writes its words, each ended by a zero byte, and then puts them there at once.
        let words = "for w in \"$@\"; do printf '%s\\0' \"$w\"; done > words.new; mv words.new words"
        let startup =
            switch shell {
            case "bash": "args() { \(words); }; source completions"
            case "zsh": "args() { \(words) }; fpath+=($PWD); autoload -Uz compinit; compinit -u"
            default:
                """
                function args; for w in $argv; printf '%s\\0' $w; end > words.new; mv words.new words; end
                source completions
                """
            }
        self.shell = try await ShellSession(shell, startup: startup, in: folder)
    }

    /// Text as the shell reads it, without quotation marks around it.
    func quoted(_ text: String) -> String {
        text.map { $0.isASCII && !$0.isLetter && !$0.isNumber && !"/%".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    func run(_ line: String) throws { try shell.run(line) }

    /// The words of a line after Tab was pressed at its end: a function prints them in place of the tool.
    func words(completing line: String, then end: String = "") async throws -> [String] {
        try? FileManager.default.removeItem(atPath: file)
        try session.press("C-u")
        try session.type(line)
        try session.press("Tab")
        // What is typed next is read after the shell has completed the word.
        if !end.isEmpty { try session.type(end) }
        try session.press("C-a")
        try session.type("args ")
        try session.press("Enter")
        try await session.wait { _ in FileManager.default.fileExists(atPath: file) }
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        return data.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
