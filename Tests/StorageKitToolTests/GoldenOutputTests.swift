import Foundation
import Testing

/// What every command prints and how it ends, compared with recorded texts.
///
/// After a wanted change record them again with `RECORD_GOLDEN=1 swift test --filter GoldenOutputTests` and read the
/// difference before keeping it.
@Suite struct GoldenOutputTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let arguments: [String]
        var testDescription: String { name }

        init(_ name: String, _ arguments: String...) {
            self.name = name
            self.arguments = arguments
        }

        init(_ name: String, arguments: [String]) {
            self.name = name
            self.arguments = arguments
        }
    }

    static let readingCases: [Case] = [
        Case("overview"),
        Case("log", "log"), Case("log-jsonl", "log", "--format", "jsonl"),
        Case("log-json", "log", "--format", "json", "-n", "2"),
        Case("log-csv", "log", "--format", "csv"), Case("log-md", "log", "--format", "md"),
        Case("log-patch", "log", "-p"), Case("log-patch-jsonl", "log", "-p", "-n", "2", "--format", "jsonl"),
        Case("log-oneline", "log", "--oneline"), Case("log-schema", "log", "--oneline", "--schema", "--reverse"),
        Case("log-reverse", "log", "--oneline", "--reverse", "-n", "2"),
        Case("log-range", "log", "t:2..head~1", "--oneline"),
        Case("log-times", "log", "--since", "2024-05-02", "--until", "2024-05-02T17:00:00Z", "--oneline"),
        Case("log-filters", "log", "--actor", "anna", "--op", "u", "--column", "views", "--oneline"),
        Case("log-reason", "log", "--reason", "customer", "--oneline"),
        Case("log-table", "log", "users", "--oneline"),
        Case("log-row", "log", "posts/a%2F1", "-p", "--format", "jsonl"),
        Case("log-mixed", "log", "users", "posts/b", "--oneline"),
        Case("log-cell", "log", "posts/a/1#views", "--oneline"),
        Case("log-color", "log", "-n", "2", "-p", "--color", "always"),
        Case("log-nothing", "log", "--actor", "nobody"), Case("log-empty-range", "log", "head..t:1"),
        Case("log-unknown-table", "log", "post"), Case("log-unknown-column", "log", "--column", "titel"),
        Case("log-point", "log", "t:2"), Case("log-bad-range", "log", "soon..later"),
        Case("log-beyond", "log", "@999.."),
        Case("log-tag", "log", "tag:v1.."), Case("log-bad-limit", "log", "-n", "0"),
        Case("show-commit", "show", "t:3"), Case("show-commit-json", "show", "t:3", "--format", "json"),
        Case("show-event", "show", "@22"), Case("show-event-jsonl", "show", "@22", "--format", "jsonl"),
        Case("show-before", "show", "@23~"), Case("show-time", "show", "2024-05-02T15:00:00Z"),
        Case("show-head", "show", "head~1"), Case("show-missing-event", "show", "@999"),
        Case("show-missing-commit", "show", "t:999"), Case("show-zero", "show", "@0"),
        Case("show-before-history", "show", "2020-01-01"), Case("show-csv", "show", "t:1", "--format", "csv"),
        Case("show-nonsense", "show", "soon"),
        Case("history", "history", "posts/a/1"), Case("history-jsonl", "history", "posts/a/1", "--format", "jsonl"),
        Case("history-json", "history", "posts/a/1", "--format", "json", "-n", "1"),
        Case("history-csv", "history", "posts/b", "--format", "csv"),
        Case("history-md", "history", "posts/b", "--format", "md"),
        Case("history-reborn", "history", "posts/b"), Case("history-cell", "history", "posts/a/1#title"),
        Case("history-cell-jsonl", "history", "posts/a/1#title", "--format", "jsonl"),
        Case("history-integer-key", "history", "users/7", "--format", "jsonl"),
        Case("history-composite-key", "history", "seats/A,1"), Case("history-limit", "history", "posts/a/1", "-n", "1"),
        Case("history-since", "history", "posts/a/1", "--since", "2024-05-02T15:00:00Z"),
        Case("history-nothing", "history", "posts/a/1", "--actor", "nobody"),
        Case("history-unknown-row", "history", "posts/aa"), Case("history-unknown-integer", "history", "users/8"),
        Case("history-unknown-table", "history", "user/7"), Case("history-unknown-column", "history", "posts/b#titel"),
        Case("history-short-key", "history", "seats/A"), Case("history-table", "history", "posts"),
        Case("at", "at", "t:4", "SELECT * FROM posts ORDER BY id"),
        Case("at-jsonl", "at", "t:4", "SELECT * FROM posts ORDER BY id", "--format", "jsonl"),
        Case("at-json", "at", "t:2", "SELECT id, draft FROM posts WHERE 0", "--format", "json"),
        Case("at-csv", "at", "head", "SELECT id, title FROM posts", "--format", "csv"),
        Case("at-md", "at", "head", "SELECT id, title FROM posts", "--format", "md"),
        Case("at-list", "at", "t:4"), Case("at-list-before", "at", "@0"),
        Case("at-each", "at", "t:2", "SELECT count(*) AS posts FROM posts", "--each", "t:4,t:5,head"),
        Case("at-each-jsonl", "at", "t:2", "SELECT id, views FROM posts", "--each", "head", "--format", "jsonl"),
        Case("at-diff", "at", "t:3", "SELECT id, title, views FROM posts", "--diff-with", "head"),
        Case("at-diff-jsonl", "at", "head", "SELECT id, views FROM posts", "--diff-with", "t:2", "--format", "jsonl"),
        Case("at-diff-equal", "at", "t:3", "SELECT * FROM seats", "--diff-with", "t:3"),
        Case("at-diff-key", "at", "t:5", "SELECT name, id FROM users", "--diff-with", "t:2", "--key", "id"),
        Case("at-diff-unknown-key", "at", "t:5", "SELECT name FROM users", "--diff-with", "t:2", "--key", "id"),
        Case("at-now", "at", "t:2", "SELECT count(*) FROM unused", "--schema", "now"),
        Case("at-then", "at", "t:2", "SELECT count(*) FROM unused"),
        Case("at-join", "at", "t:5", "SELECT p.id, u.name FROM posts AS p, users AS u"),
        Case("at-wrong-sql", "at", "t:2", "SELEC 1"), Case("at-writes", "at", "t:2", "DELETE FROM posts"),
        Case("at-two", "at", "t:2", "SELECT 1; SELECT 2"), Case("at-missing-point", "at", "t:99", "SELECT 1"),
        Case("at-nonsense", "at", "soon"), Case("at-key-alone", "at", "t:2", "SELECT 1", "--key", "id"),
        Case("tail", "tail", "-n", "3"), Case("tail-jsonl", "tail", "-n", "2", "--format", "jsonl"),
        Case("tail-from", "tail", "--from", "t:4", "--format", "jsonl"), Case("tail-none", "tail", "--actor", "nobody"),
        Case("tail-for", "tail", "--for", "1"),
        Case("stats", "stats"), Case("stats-json", "stats", "--format", "json"),
        Case("stats-csv", "stats", "--format", "csv"),
        Case("verify", "verify"), Case("verify-json", "verify", "--format", "json"),
        Case("projections-none", "projections"), Case("projections-csv", "projections", "--format", "csv"),
        Case("unknown-command", "blame"), Case("unknown-option", "log", "--colour"),
    ]

    static let writingCases: [Case] = [
        Case("rebuild-compare", "rebuild", "--compare"), Case("rebuild", "rebuild"),
        Case("rebuild-table", "rebuild", "posts"), Case("rebuild-json", "rebuild", "--format", "json"),
        Case("rebuild-unknown", "rebuild", "post"),
    ]

    @Test(arguments: readingCases) func readsAs(_ golden: Case) async throws {
        try Self.check(golden, store: try await SampleStore.shared.value.path)
    }

    @Test(arguments: writingCases) func writesAs(_ golden: Case) async throws {
        // A store of its own, because only one process may write.
        let store = try await SampleStore()
        try Self.check(golden, store: store.path)
    }

    @Test func missingStoresAreSaid() throws {
        let folder = try TestFolder()
        try Self.check(Case("no-store", "log"), store: nil)
        try Self.check(Case("missing-store", "log"), store: folder.path("nothing.sqlite"))
        try Self.check(Case("missing-store-rebuild", "rebuild"), store: folder.path("nothing.sqlite"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("nothing.sqlite")))
        try Data("not a database".utf8).write(to: folder.url.appendingPathComponent("text.sqlite"))
        try Self.check(Case("foreign-file", "verify"), store: folder.path("text.sqlite"))
    }

    /// Damage of rows that the log knows better.
    @Test func damagedTablesAreReported() async throws {
        let store = try await SampleStore()
        try store.damage("UPDATE posts SET title = 'forged' WHERE id = 'b'; DELETE FROM users")
        try Self.check(Case("damaged-verify", "verify"), store: store.path)
        try Self.check(Case("damaged-verify-json", "verify", "--format", "json"), store: store.path)
        try Self.check(Case("damaged-compare", "rebuild", "--compare"), store: store.path)
        try Self.check(Case("damaged-compare-json", "rebuild", "--compare", "--format", "json"), store: store.path)
        try Self.check(Case("damaged-rebuild", "rebuild"), store: store.path)
        try Self.check(Case("mended-verify", "verify"), store: store.path)
    }

    static func check(_ golden: Case, store: String?) throws {
        let outcome = try ToolProcess.run(golden.arguments, store: store)
        let words = golden.arguments.map { $0.isEmpty || $0.contains(" ") ? "'\($0)'" : $0 }
        var text = "$ storagekit \(words.joined(separator: " "))\n" + outcome.output
        if !outcome.errors.isEmpty { text += "--- standard error\n" + outcome.errors }
        text += "--- status \(outcome.status)\n"
        text = stable(text, store: store)
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Golden/\(golden.name).txt")
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: file)
        } else {
            #expect(text == String(decoding: try Data(contentsOf: file), as: UTF8.self), "\(golden.name)")
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
        if text.contains("µs/event") {
            text = text.replacingOccurrences(of: " {2,}", with: " ", options: .regularExpression)
        }
        for (pattern, replacement) in [
            (#""microseconds":\d+"#, #""microseconds":0"#),
            (#"(?m)^(\S+ \d+ (?:full-text|inline|async) .* \d+) [\d.]* ?[\d,]+ (\d+)$"#, "$1 N N $2"),
            (#""(bytes|raw_bytes|log_bytes|file_bytes|wal_bytes)":\d+"#, #""$1":0"#),
            (#"[\d,]+ bytes, [\d,]+ uncompressed"#, "N bytes, N uncompressed"),
            (#"(?m)^(log|raw|file) +[\d,]+ "#, "$1 N "), (#"[\d.]+ for each event"#, "N for each event"),
            (#"and [\d,]+ in the write-ahead"#, "and N in the write-ahead"),
            (#"(segments|events in|, )( ?)\d+ (µs|ms|s)\b"#, "$1$2T"), (#"segments, \d+ (µs|ms|s)"#, "segments, T"),
        ] {
            text = text.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
        }
        return text
    }
}
