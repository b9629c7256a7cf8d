import Foundation
import ProcessTestSupport
import Testing

/// What every command prints and how it ends, compared with recorded texts.
///
/// After a wanted change record them again with `RECORD_GOLDEN=1 swift test --filter GoldenOutputTests` and read the
/// difference before keeping it.
@Suite struct GoldenOutputTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let arguments: [String]
        /// Lines for standard input.
        var input: String?
        var testDescription: String { name }

        init(_ name: String, _ arguments: String...) {
            self.name = name
            self.arguments = arguments
        }

        init(_ name: String, arguments: [String]) {
            self.name = name
            self.arguments = arguments
        }

        /// With lines for standard input.
        init(_ name: String, input: String, _ arguments: String...) {
            self.init(name, arguments: arguments)
            self.input = input
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
        Case("diff", "diff", "t:2"), Case("diff-two-points", "diff", "t:2", "head~2"),
        Case("diff-range", "diff", "t:2..t:3"), Case("diff-jsonl", "diff", "t:2", "--format", "jsonl"),
        Case("diff-json", "diff", "t:2", "t:3", "--format", "json"),
        Case("diff-json-nothing", "diff", "head", "--format", "json"),
        Case("diff-csv", "diff", "t:2", "--format", "csv"), Case("diff-md", "diff", "t:2", "--format", "md"),
        Case("diff-sql", "diff", "@0", "--format", "sql"),
        Case("diff-sql-back", "diff", "t:2", "--reverse", "--format", "sql"),
        Case("diff-stat", "diff", "t:2", "--stat"),
        Case("diff-stat-jsonl", "diff", "t:2", "--stat", "--format", "jsonl"),
        Case("diff-summary", "diff", "t:2", "--summary"),
        Case("diff-summary-csv", "diff", "t:2", "--summary", "--format", "csv"),
        Case("diff-summary-json", "diff", "t:2", "--summary", "--format", "json"),
        Case("diff-skinny", "diff", "t:2", "--skinny"), Case("diff-reverse", "diff", "t:2", "--reverse"),
        Case("diff-table", "diff", "t:2", "users", "seats"), Case("diff-row", "diff", "t:2", "posts/a/1"),
        Case("diff-cell", "diff", "t:2", "posts/a/1#views", "--format", "jsonl"),
        Case("diff-row-unchanged", "diff", "t:2", "t:3", "users/7"),
        Case("diff-exit-code", "diff", "head~1", "--exit-code"),
        Case("diff-exit-code-equal", "diff", "t:4", "t:4", "--exit-code"),
        Case("diff-times", "diff", "2024-05-02T15:00:00Z", "2024-05-03", "users"),
        Case("diff-color", "diff", "t:3", "t:4", "--color", "always"), Case("diff-no-point", "diff"),
        Case("diff-bad-point", "diff", "users"), Case("diff-beyond", "diff", "@999"),
        Case("diff-unknown-table", "diff", "t:2", "user"), Case("diff-unknown-row", "diff", "t:2", "users/8"),
        Case("diff-unknown-column", "diff", "t:2", "users/7#nam"),
        Case("diff-contradiction", "diff", "t:2", "--stat", "--format", "sql"),
        Case("blame", "blame", "posts/a/1"), Case("blame-jsonl", "blame", "posts/a/1", "--format", "jsonl"),
        Case("blame-json", "blame", "users/7", "--format", "json"),
        Case("blame-csv", "blame", "posts/a/1", "--format", "csv"),
        Case("blame-md", "blame", "posts/b", "--format", "md"), Case("blame-cell", "blame", "posts/a/1#title"),
        Case("blame-columns", "blame", "posts/a/1", "--column", "views", "--column", "score"),
        Case("blame-at", "blame", "posts/a/1", "--at", "t:3"),
        Case("blame-ignore", "blame", "posts/a/1", "--ignore", "actor=ben", "--ignore", "t:4"),
        Case("blame-ignore-all", "blame", "users/7", "--ignore", "t:5", "--ignore", "app=web 3.1"),
        Case("blame-reason", "blame", "posts/a/1", "--ignore", "reason~called", "--format", "jsonl"),
        Case("blame-composite-key", "blame", "seats/A,1"), Case("blame-table", "blame", "posts"),
        Case("blame-table-jsonl", "blame", "posts", "--format", "jsonl"),
        Case("blame-table-csv", "blame", "seats", "--format", "csv"),
        Case("blame-table-at", "blame", "posts", "--at", "t:5"),
        Case("blame-table-column", "blame", "posts", "--column", "title"),
        Case("blame-table-ignore", "blame", "posts", "--ignore", "t:4", "--ignore", "actor=import"),
        Case("blame-table-limit", "blame", "posts", "-n", "1"), Case("blame-table-empty", "blame", "unused"),
        Case("blame-color", "blame", "users/7", "--color", "always"),
        Case("blame-deleted", "blame", "posts/b", "--at", "t:5"),
        Case("blame-early", "blame", "seats/A,1", "--at", "t:2"),
        Case("blame-unknown-row", "blame", "users/8"), Case("blame-unknown-table", "blame", "user"),
        Case("blame-unknown-column", "blame", "posts/b", "--column", "titel"),
        Case("blame-bad-ignore", "blame", "posts/b", "--ignore", "ben"),
        Case("blame-key", "blame", "posts/b", "--column", "id"), Case("blame-row-limit", "blame", "posts/b", "-n", "1"),
        Case("grep", "grep", "Hello"), Case("grep-jsonl", "grep", "Hello", "--format", "jsonl"),
        Case("grep-json", "grep", "Anna", "--format", "json", "-n", "1"),
        Case("grep-csv", "grep", "again", "--format", "csv"), Case("grep-md", "grep", "again", "--format", "md"),
        Case("grep-fixed", "grep", "-F", "Anna B."), Case("grep-regex", "grep", "-G", "^An+a$"),
        Case("grep-ignore-case", "grep", "-i", "hELLO"), Case("grep-appeared", "grep", "42", "--appeared"),
        Case("grep-vanished", "grep", "42", "--vanished"), Case("grep-in-new", "grep", "Hello", "--in", "new"),
        Case("grep-in-old", "grep", "Hello", "--in", "old"), Case("grep-number", "grep", "10"),
        Case("grep-boolean", "grep", "true"), Case("grep-key", "grep", "a/1", "--reverse"),
        Case("grep-meta", "grep", "customer", "--in", "meta"),
        Case("grep-meta-jsonl", "grep", "-i", "t-5", "--in", "meta", "--format", "jsonl"),
        Case("grep-meta-csv", "grep", "anna", "--in", "meta", "--format", "csv"),
        Case("grep-range", "grep", "Anna", "..t:3"), Case("grep-table", "grep", "a", "seats"),
        Case("grep-cell", "grep", "1", "posts/a/1#views"), Case("grep-actor", "grep", "Hello", "--actor", "ben"),
        Case("grep-color", "grep", "42", "--color", "always"), Case("grep-nothing", "grep", "nowhere"),
        Case("grep-bad-regex", "grep", "-G", "(open"), Case("grep-empty", "grep", ""),
        Case("grep-contradiction", "grep", "x", "--in", "new", "--appeared"),
        Case("grep-unknown-table", "grep", "x", "user"), Case("grep-no-pattern", "grep"),
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
        Case("at-now", "at", "t:2", "SELECT count(*) FROM unused", "--schema", "current"),
        Case("at-then", "at", "t:2", "SELECT count(*) FROM unused"),
        Case("at-join", "at", "t:5", "SELECT p.id, u.name FROM posts AS p, users AS u"),
        Case("at-wrong-sql", "at", "t:2", "SELEC 1"), Case("at-writes", "at", "t:2", "DELETE FROM posts"),
        Case("at-two", "at", "t:2", "SELECT 1; SELECT 2"), Case("at-missing-point", "at", "t:99", "SELECT 1"),
        Case("at-nonsense", "at", "soon"), Case("at-key-alone", "at", "t:2", "SELECT 1", "--key", "id"),
        Case("bisect", "bisect", "SELECT title = 'Hello, world' FROM posts WHERE id = 'a/1'"),
        Case("bisect-jsonl", "bisect", "t:2..t:5", "SELECT count(*) < 2 FROM posts", "--format", "jsonl"),
        Case(
            "bisect-run", "bisect", "--run",
            "test \"$STORAGEKIT_POINT\" != t:0 && test \"${STORAGEKIT_POINT#t:}\" -ge 5"),
        Case(
            "bisect-skip", "bisect", "--run",
            "case $STORAGEKIT_POINT in t:[3-5]) exit 125;; t:[67]) exit 0;; *) exit 1;; esac"),
        Case("bisect-same", "bisect", "SELECT 1"), Case("bisect-wrong-name", "bisect", "SELECT count(*) FROM post"),
        Case("bisect-both", "bisect", "SELECT 1", "--run", "true"),
        Case("bisect-empty", "bisect", "head..t:2", "SELECT 1"),
        Case("sql", "sql", "SELECT id, title, draft FROM posts ORDER BY id"),
        Case("sql-history", "sql", "SELECT * FROM history_posts ORDER BY _position"),
        Case("sql-history-jsonl", "sql", "SELECT * FROM history_users", "--format", "jsonl"),
        Case("sql-changes", "sql", "SELECT _position, _op, _changed, id, old_title, new_title FROM changes_posts"),
        Case("sql-changes-csv", "sql", "SELECT * FROM changes_seats", "--format", "csv"),
        Case("sql-commits", "sql", "SELECT * FROM commits"), Case("sql-unknown", "sql", "SELECT * FROM history_post"),
        Case(
            "sql-join", "sql",
            "SELECT h._time, h.title, c.reason FROM history_posts AS h JOIN commits AS c ON c.number = h._commit ORDER BY 1"
        ),
        Case("sql-writes", "sql", "DELETE FROM posts"),
        Case("sql-nothing", "sql", "SELECT id FROM posts WHERE 0", "--format", "json"),
        Case("tail", "tail", "-n", "3"), Case("tail-jsonl", "tail", "-n", "2", "--format", "jsonl"),
        Case("tail-from", "tail", "--from", "t:4", "--format", "jsonl"), Case("tail-none", "tail", "--actor", "nobody"),
        Case("tail-for", "tail", "--for", "1"),
        // The time counts from the first page on.
        Case("watch", "watch", "posts", "--for", "0"),
        Case("watch-page", "watch", "posts", "--order", "views desc, id", "-n", "1", "--page", "2", "--for", "0"),
        Case("watch-jsonl", "watch", "posts", "--where", "views >= 0", "--for", "0", "--format", "jsonl"),
        Case("watch-group", "watch", "posts", "--group", "draft", "--for", "0"),
        Case("watch-aggregate", "watch", "posts", "--aggregate", "count, sum(views), max(title)", "--for", "0"),
        Case(
            "watch-aggregate-jsonl", "watch", "posts", "--aggregate", "count", "--group", "draft", "--for", "0",
            "--format", "jsonl"),
        Case("watch-from", "watch", "posts", "--from", "t:2", "--pace", "0.01", "--for", "0"),
        Case("watch-nothing", "watch", "unused", "--for", "0"), Case("watch-unknown", "watch", "post"),
        Case("watch-unknown-column", "watch", "posts", "--order", "titel"),
        Case("watch-unknown-function", "watch", "posts", "--aggregate", "median(views)"),
        Case("watch-contradiction", "watch", "posts", "--aggregate", "count", "-n", "3"),
        Case("watch-no-index", "watch", "posts", "--search", "hello", "--for", "0"),
        Case("stats", "stats"), Case("stats-json", "stats", "--format", "json"),
        Case("stats-csv", "stats", "--format", "csv"), Case("stats-jsonl", "stats", "--format", "jsonl"),
        Case("verify-jsonl", "verify", "--format", "jsonl"),
        Case("bisect-json", "bisect", "t:2..t:5", "SELECT count(*) < 2 FROM posts", "--format", "json"),
        Case("sql-json", "sql", "SELECT id, title FROM posts ORDER BY id", "--format", "json"),
        Case("sql-md", "sql", "SELECT id, title FROM posts ORDER BY id", "--format", "md"),
        Case("tail-json", "tail", "-n", "2", "--format", "json"),
        Case("tail-csv", "tail", "-n", "2", "--format", "csv"),
        Case("tail-md", "tail", "-n", "2", "--format", "md"),
        Case("verify", "verify"), Case("verify-json", "verify", "--format", "json"),
        Case("projections-none", "projections"),
        Case("projections-none-csv", "projections", "--format", "csv"),
        Case("unknown-command", "historia"), Case("unknown-option", "log", "--colour"),
    ]

    static let writingCases: [Case] = [
        Case("rebuild-compare", "rebuild", "--compare"), Case("rebuild", "rebuild"),
        Case("rebuild-table", "rebuild", "posts"), Case("rebuild-json", "rebuild", "--format", "json"),
        Case("rebuild-unknown", "rebuild", "post"), Case("rebuild-keep", "rebuild", "posts", "--keep"),
        Case("rebuild-dry-run", "rebuild", "--dry-run"),
        Case("rebuild-dry-run-json", "rebuild", "--dry-run", "--format", "json"),
        Case("rebuild-abandon", "rebuild", "--abandon"),
        Case("rebuild-abandon-compare", "rebuild", "--abandon", "--compare"),
        Case("revert-dry-run", "revert", "t:4", "--dry-run"),
        Case("revert-unconfirmed", "revert", "t:4"),
        Case("revert", "revert", "head~1", "--yes", "--reason", "oops"),
        Case("revert-json", "revert", "t:4", "--yes", "--format", "json"),
        Case("revert-conflict", "revert", "t:2", "--yes"),
        Case("revert-conflict-json", "revert", "t:2", "--dry-run", "--format", "json"),
        Case("revert-skip", "revert", "t:3", "--yes", "--on-conflict", "skip"),
        Case("revert-range", "revert", "t:2..t:4", "--dry-run"),
        Case("revert-range-json", "revert", "t:2..t:5", "--yes", "--format", "json"),
        Case("revert-range-backwards", "revert", "t:5..t:3", "--yes"),
        Case("revert-overwrite", "revert", "t:2", "--yes", "--on-conflict", "overwrite"),
        Case("revert-schema", "revert", "t:1", "--yes"), Case("revert-missing", "revert", "t:99", "--yes"),
        Case("revert-wrong-policy", "revert", "t:4", "--on-conflict", "ask"),
        Case("undo", "undo", "--yes"), Case("undo-of", "undo", "--of", "ben", "--dry-run"),
        Case("undo-nothing", "undo", "--of", "nobody", "--yes"), Case("redo-nothing", "redo", "--yes"),
        Case("undo-json", "undo", "--dry-run", "--format", "json"),
        Case("undo-jsonl", "undo", "--yes", "--format", "jsonl"),
        Case("revert-jsonl", "revert", "t:4", "--yes", "--format", "jsonl"),
        Case("restore-state-json", "restore-state", "t:4", "--dry-run", "--format", "json"),
        Case("rebuild-jsonl", "rebuild", "posts", "--format", "jsonl"),
        Case("restore-state", "restore-state", "t:2", "--yes"),
        Case("restore-state-table", "restore-state", "t:4", "posts", "--dry-run"),
        Case("restore-state-row", "restore-state", "t:2", "posts/a/1", "--yes", "--format", "jsonl"),
        Case("restore-state-same", "restore-state", "head", "--yes"),
        Case("restore-state-unknown", "restore-state", "t:2", "post", "--yes"),
        Case("restore-state-cell", "restore-state", "t:2", "posts/b#title"),
    ]

    static let replayCases: [Case] = [
        Case("replay", "replay"), Case("replay-jsonl", "replay", "--format", "jsonl"),
        Case("replay-json", "replay", "t:4..t:5", "--format", "json"),
        Case("replay-event", "replay", "t:2..t:3", "--by", "event"),
        Case("replay-targets", "replay", "users", "seats/A,1"), Case("replay-cell", "replay", "posts/a/1#views"),
        Case("replay-to", "replay", "--to", "2024-05-02T15:00:00Z"),
        Case("replay-break-cell", "replay", "-q", "--break", "posts/a/1#title = Hello, world"),
        Case("replay-break-cell-any", "replay", "-q", "--break", "posts/a/1#body"),
        Case("replay-break-cell-not", "replay", "-q", "--by", "event", "--break", "posts/a/1#views != 0"),
        Case("replay-break-null", "replay", "-q", "--by", "event", "--break", "posts/a/1#body = null", "t:2.."),
        Case("replay-break-sql", "replay", "-q", "--by", "event", "--break", "new_views > 5 AND title LIKE 'Hello%'"),
        Case("replay-break-sql-delete", "replay", "-q", "--break", "op = 'delete' AND old_title = '42'"),
        Case(
            "replay-break-jsonl", "replay", "-q", "--break", "new_name IS NOT old_name AND op = 'update'", "--format",
            "jsonl"),
        Case("replay-break-several", "replay", "-q", "--break", "name = 'Anna B.'", "--break", "guest = 'zoë'"),
        Case("replay-break-never", "replay", "-q", "--break", "views > 10"),
        Case("replay-break-event", "replay", "-q", "--break", "actor = 'ben'"),
        Case("replay-watch", "replay", "-q", "--watch", "posts/a/1#views", "--watch", "posts/b"),
        Case("replay-watch-jsonl", "replay", "-q", "--watch", "posts/b#title", "--format", "jsonl"),
        Case("replay-color", "replay", "t:4..t:5", "--watch", "users/7#name", "--color", "always"),
        Case("replay-nothing", "replay", "unused"), Case("replay-empty-range", "replay", "head.."),
        Case("replay-wrong-condition", "replay", "--break", "new_viws > 5"),
        Case("replay-wrong-cell", "replay", "--break", "posts/a/1#viws = 5"),
        Case("replay-wrong-row", "replay", "--watch", "posts/z"),
        Case("replay-csv", "replay", "--format", "csv"),
        Case("replay-step-json", "replay", "--step", "--format", "json"),
        Case("replay-beyond", "replay", "--to", "t:99"),
        Case("replay-step", input: "n\nn\nN\np\nP\n.\n", "replay", "--step", "--to", "t:2"),
        Case(
            "replay-step-look",
            input:
                "s SELECT id, title FROM posts\nN\ns SELECT id, title FROM posts\nd\np 2\ns SELECT id, title FROM posts\nq\nn\n",
            "replay", "--step", "--to", "t:2"),
        Case("replay-step-break", input: "b users/7#name = Anna B.\nb\nc\nd users\n", "replay", "-q", "--step"),
        Case("replay-step-watch", input: "w posts/a/1#views\nw\nN 3\nP 2\nc\n", "replay", "-q", "--step"),
        Case(
            "replay-step-jsonl", input: "n\ns SELECT count(*) AS n FROM posts\nd\np\nc\n", "replay", "--step", "--to",
            "t:4", "--format", "jsonl"),
        Case(
            "replay-step-go", input: "g t:5\ns SELECT * FROM users\ng @1\ng t:2\ns SELECT * FROM users\n",
            "replay", "--step"),
        Case("replay-step-events", input: "c\n", "replay", "posts", "--step", "--by", "event", "--break", "views > 5"),
        Case("replay-step-help", input: "?\n", "replay", "--step"),
        Case("replay-step-unknown", input: "x\nn\n", "replay", "--step"),
        Case("replay-step-count", input: "n two\n", "replay", "--step"),
        Case("replay-step-wrong-sql", input: "s SELECT * FROM user\n", "replay", "--step"),
        Case("replay-step-outside", input: "g t:5\n", "replay", "..t:4", "--step"),
    ]

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
        try Self.check(Case("mended-verify", "verify"), store: store.path)
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
