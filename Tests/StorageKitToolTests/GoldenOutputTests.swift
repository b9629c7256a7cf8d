import Foundation
import TestSupport
import Testing

/// What every command prints and how it ends, compared with recorded texts.
///
/// After a wanted change record them again with `RECORD_GOLDEN=1 swift test --filter GoldenOutputTests` and read the
/// difference before keeping it.
@Suite struct GoldenOutputTests {
    @Test("Replays", arguments: replayCases)
    func replayOutput(_ golden: Case) async throws {
        try Self.check(golden, store: try await SampleStore.shared.value.path)
    }

    /// Projections in SQL: folded on the way, and held against each other.
    @Test("Projections in SQL are run")
    func sqlProjections() async throws {
        let store = try await SampleStore()
        func file(_ name: String, _ text: String) throws -> String {
            let url = store.folder.url.appendingPathComponent(name)
            try Data(text.utf8).write(to: url)
            return url.path
        }
        let rules = """
            CREATE TABLE views(title TEXT PRIMARY KEY, views INTEGER NOT NULL);
            -- on insert, update of posts
            INSERT OR REPLACE INTO views VALUES (:new_title, ifnull(:new_views, 0));
            -- on delete of posts
            DELETE FROM views WHERE title = :old_title;
            """
        let old = try file("views.sql", rules)
        let new = try file("views-2.sql", rules.replacingOccurrences(of: "0));", with: "0) * 2);"))
        let wide = try file(
            "wide.sql",
            rules.replacingOccurrences(of: "NOT NULL)", with: "NOT NULL, note TEXT)")
                .replacingOccurrences(of: "INTO views VALUES", with: "INTO views(title, views) VALUES"))
        let broken = try file("broken.sql", rules.replacingOccurrences(of: "ifnull(:new_views, 0)", with: ":new_views"))
        let typo = try file("typo.sql", rules.replacingOccurrences(of: "on delete", with: "on deletion"))
        let stranger = try file("stranger.sql", rules.replacingOccurrences(of: "of posts", with: "of post"))
        func check(_ name: String, input: String? = nil, _ arguments: String...) throws {
            var golden = Case(name, arguments: arguments)
            golden.input = input
            try Self.check(golden, store: store.path)
        }
        try check("replay-projection", "replay", "posts", "--projection", old)
        try check("replay-projection-quiet", "replay", "-q", "t:3..", "--by", "event", "--projection", old)
        try check("replay-projection-jsonl", "replay", "-q", "t:3..", "--projection", old, "--format", "jsonl")
        try check("replay-projection-fails", "replay", "-q", "--projection", broken)
        try check("replay-projection-break-error", "replay", "-q", "--projection", broken, "--break", "error")
        try check("replay-projection-entity", "replay", "--projection", "users")
        try check("replay-projection-missing", "replay", "--projection", "nothing.sql")
        try check("replay-projection-typo", "replay", "--projection", typo)
        try check("replay-projection-stranger", "replay", "--projection", stranger)
        try check(
            "replay-projection-step",
            input: "N 3\ns SELECT * FROM views\nP 2\ns SELECT * FROM views\ng t:6\ns SELECT * FROM views\n",
            "replay", "-q", "--step", "--projection", old)
        try check(
            "replay-projection-mixed", input: "s SELECT * FROM views, users\n", "replay", "--step", "--projection", old)
        try check("compare-replay", "compare-replay", "--old", old, "--new", new)
        try check("compare-replay-jsonl", "compare-replay", "--old", old, "--new", new, "--format", "jsonl")
        try check("compare-replay-json", "compare-replay", "--old", old, "--new", new, "--format", "json")
        try check("compare-replay-range", "compare-replay", "--old", old, "--new", new, "..t:3")
        try check("compare-replay-behind", "compare-replay", "--old", old, "--new", new, "t:5..", "-n", "0")
        try check("compare-replay-equal", "compare-replay", "--old", old, "--new", old)
        try check("compare-replay-wide", "compare-replay", "--old", old, "--new", wide)
        try check("compare-replay-color", "compare-replay", "--old", old, "--new", new, "--color", "always")
        try check("compare-replay-broken", "compare-replay", "--old", old, "--new", broken)
        try check("compare-replay-missing", "compare-replay", "--old", old, "--new", "nothing.sql")
        try check("compare-replay-unnamed", "compare-replay", "--old", old)
        try check("compare-replay-csv", "compare-replay", "--old", old, "--new", new, "--format", "csv")
    }

    @Test("Reading commands", arguments: readingCases)
    func readingOutput(_ golden: Case) async throws {
        try Self.check(golden, store: try await SampleStore.shared.value.path)
    }

    @Test("Writing commands", arguments: writingCases)
    func writingOutput(_ golden: Case) async throws {
        // A store of its own, because only one process may write.
        let store = try await SampleStore()
        try Self.check(golden, store: store.path)
    }

    @Test("Missing stores are reported")
    func missingStores() throws {
        let folder = try TemporaryFolder()
        try Self.check(Case("no-store", "log"), store: nil)
        try Self.check(Case("missing-store", "log"), store: folder.path("nothing.sqlite"))
        try Self.check(Case("missing-store-rebuild", "rebuild"), store: folder.path("nothing.sqlite"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("nothing.sqlite")))
        try Data("not a database".utf8).write(to: folder.url.appendingPathComponent("text.sqlite"))
        try Self.check(Case("foreign-file", "verify"), store: folder.path("text.sqlite"))
    }

    /// A history from a file and from a pipe, into a new store and one that has its beginning.
    @Test("Histories are imported")
    func importOutput() throws {
        let folder = try TemporaryFolder()
        let lines = [
            #"{"tx":1,"at":"2024-05-01T10:00:00Z","actor":"anna","op":"insert","table":"posts","id":"1","row":{"title":"Hello"}}"#,
            #"{"tx":2,"at":"2024-05-01T11:00:00Z","op":"update","table":"posts","id":"1","row":{"title":7,"tags":["a"]}}"#,
            #"{"tx":3,"at":"2024-05-01T12:00:00Z","op":"delete","table":"posts","id":"1"}"#,
        ]
        func write(_ name: String, _ lines: some Sequence<String>) throws {
            let text = lines.map { $0 + "\n" }.joined()
            try Data(text.utf8).write(to: folder.url.appendingPathComponent(name))
        }
        try write("two.jsonl", lines.prefix(2))
        try write("three.jsonl", lines)
        try write("other.jsonl", lines.map { $0.replacing("Hello", with: "Bye") })
        try write("broken.jsonl", lines.prefix(1) + ["{\"tx\":2,"])
        try write("unordered.jsonl", lines.reversed())
        for golden in [
            Case("import-dry-run", "import", "two.jsonl", "-s", "new.sqlite", "--dry-run"),
            Case("import", "import", "two.jsonl", "-s", "new.sqlite"),
            Case("import-again", "import", "two.jsonl", "-s", "new.sqlite"),
            Case("import-longer", "import", "three.jsonl", "-s", "new.sqlite"),
            Case("import-other", "import", "other.jsonl", "-s", "new.sqlite"),
            Case("import-quiet", "import", "three.jsonl", "-s", "quiet.sqlite", "--quiet"),
            Case("import-input", input: lines[0] + "\n", "import", "-", "-s", "piped.sqlite"),
            Case("import-broken", "import", "broken.jsonl", "-s", "broken.sqlite"),
            Case("import-unordered", "import", "unordered.jsonl", "-s", "unordered.sqlite"),
            Case("import-missing", "import", "nothing.jsonl", "-s", "missing.sqlite"),
            Case("import-no-store", "import", "two.jsonl"),
        ] {
            let outcome = try ToolProcess.run(golden.arguments, store: nil, input: golden.input, in: folder.url)
            try Self.compare(golden, outcome, store: nil)
        }
    }

    /// Damage of rows that the log knows better.
    @Test("What was undone is redone, and damage repaired")
    func redoAndRepairOutput() async throws {
        let store = try await SampleStore()
        for golden in [
            Case("redo", "redo", "--yes"), Case("redo-jsonl", "redo", "--yes", "--format", "jsonl"),
            Case("redo-json", "redo", "--of", "import", "--yes", "--format", "json"),
        ] {
            #expect(try ToolProcess.run(["undo", "--yes"], store: store.path).status == 0)
            try Self.check(golden, store: store.path)
        }
    }

    @Test("Damaged tables are reported")
    func damagedTables() async throws {
        let store = try await SampleStore()
        try store.damage("UPDATE posts SET title = 'forged' WHERE id = 'b'; DELETE FROM users")
        try Self.check(Case("damaged-verify", "verify"), store: store.path)
        try Self.check(Case("damaged-verify-json", "verify", "--format", "json"), store: store.path)
        try Self.check(Case("damaged-compare", "rebuild", "--compare"), store: store.path)
        try Self.check(Case("damaged-compare-json", "rebuild", "--compare", "--format", "json"), store: store.path)
        try Self.check(Case("damaged-rebuild", "rebuild", "--compare", "--swap"), store: store.path)
        try Self.check(Case("repaired-verify", "verify"), store: store.path)
        try Self.check(Case("kept-rebuild", "rebuild", "posts", "users", "--keep"), store: store.path)
        try Self.check(Case("kept-abandon-dry-run", "rebuild", "--abandon", "--dry-run"), store: store.path)
        try Self.check(Case("kept-abandon", "rebuild", "--abandon", "--format", "json"), store: store.path)
    }

    static func check(_ golden: Case, store: String?) throws {
        try compare(golden, ToolProcess.run(golden.arguments, store: store, input: golden.input), store: store)
    }

    static func compare(_ golden: Case, _ outcome: ToolProcess.Outcome, store: String?) throws {
        let words = golden.arguments.map { $0.isEmpty || $0.contains(" ") ? "'\($0)'" : $0 }
        let input = golden.input.map { "printf '\($0.replacingOccurrences(of: "\n", with: "\\n"))' | " } ?? ""
        var text = "$ \(input)storagekit \(words.joined(separator: " "))\n" + outcome.output
        if !outcome.errors.isEmpty { text += "--- standard error\n" + outcome.errors }
        text += "--- status \(outcome.status)\n"
        text = stable(text, store: store)
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Golden/\(golden.name).txt")
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: file)
        } else {
            #expect(text == String(decoding: try Data(contentsOf: file), as: UTF8.self), "\(golden.name): \(text)")
        }
    }

    /// Without what differs from run to run or with the version of a library: paths, times taken, compressed sizes.
    private static func stable(_ text: String, store: String?) -> String {
        var text = text
        if let store {
            text = text.replacingOccurrences(
                of: URL(fileURLWithPath: store).deletingLastPathComponent().path, with: "FOLDER")
        }
        // The time taken makes this table's columns wider or narrower.
        if text.contains("events/s") {
            text = text.replacingOccurrences(of: " {2,}", with: " ", options: .regularExpression)
        }
        for (pattern, replacement) in [
            (#""microseconds":\d+"#, #""microseconds":0"#),
            (#""(events_per_second|microseconds_per_event)":[\d.e+]+"#, #""$1":0"#),
            (
                #"(?m)^(\S+ \d+ \S*(?:full-text|inline|async)\S* \S+ @\d+ [\d,]+) (?:[\d,]+ )?\d+ (?:bytes|KiB|MiB)$"#,
                "$1 N N"
            ),
            (#""(bytes|raw_bytes|log_bytes|file_bytes|wal_bytes)":\d+"#, #""$1":0"#),
            (#"(?<!\d)\d+ (?:bytes|KiB|MiB|GiB)(?= free| in the write-ahead log)"#, "N"),
            (#"the store has \d+ (?:bytes|KiB|MiB|GiB)"#, "the store has N"), (#"process \d+"#, "process N"),
            // The sample ends in 2024; what a command records has the time of the test.
            (#"the last is (?!2024)\S+"#, "the last is NOW"),
            (#"[\d,]+ bytes(, (?:not )?verified| in the store)"#, "N bytes$1"), (#"took [\d.]+ s"#, "took T"),
            (#"[\d,]+ bytes, [\d,]+ uncompressed"#, "N bytes, N uncompressed"),
            (#"(?m)^((?:\x1b\[2m)?(?:log|raw|file)(?:\x1b\[0m)?) +[\d,]+ "#, "$1 N "),
            (#"[\d.]+ for each event"#, "N for each event"),
            (#"and [\d,]+ in the write-ahead"#, "and N in the write-ahead"),
            // The age of what was fetched when the sample was made.
            (#" +\d+ y(?: \d+ d)? "#, " AGE "),
            (#"(segments|events in|, )( ?)\d+ (µs|ms|s)\b"#, "$1$2T"), (#"segments, \d+ (µs|ms|s)"#, "segments, T"),
        ] {
            text = text.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
        }
        return text
    }
}
