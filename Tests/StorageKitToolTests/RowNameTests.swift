import Foundation
import GRDB
import StorageCore
import StorageLog
import TestSupport
import Testing

@testable import StorageKitTool

/// Rows whose keys hold the signs that separate things.
struct RowNameTests {
    private static let keys = [("a,b", "c"), ("a", "b,c"), ("50%", "x"), ("%2C", ","), ("%252C,", "/#")]

    private func store() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let engine = try SampleStore.open(folder.path())
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(
                db, "seats",
                """
                CREATE TABLE seats(row TEXT NOT NULL, place TEXT NOT NULL, guest TEXT,
                  _position INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (row, place))
                """)
        }
        for (number, key) in Self.keys.enumerated() {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                try db.execute(
                    sql: "INSERT INTO seats(row, place, guest) VALUES (?, ?, ?)",
                    arguments: [key.0, key.1, "guest \(number)"])
            }
        }
        try await engine.close()
        return folder
    }

    @Test("What is shown can be typed again")
    func shownNamesCanBeTyped() async throws {
        let folder = try await store()
        let log = try ToolProcess.run(["log", "seats", "-p", "--format", "human"], store: folder.path())
        let words = log.output.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("seats/") }.map(String.init)
        #expect(words.count == Self.keys.count, "\(log.output)")
        #expect(Set(words).count == words.count, "\(log.output)")
        for word in words {
            let blame = try ToolProcess.run(["blame", word + "#guest", "--format", "csv"], store: folder.path())
            #expect(blame.status == 0, "\(word): \(blame.errors)")
        }
        let cells = try words.map { word in
            try ToolProcess.run(["history", word, "--format", "jsonl"], store: folder.path()).output
        }
        for number in Self.keys.indices { #expect(cells.filter { $0.contains("\"guest \(number)\"") }.count == 1) }
        let wrong = try ToolProcess.run(["history", "seats/a,b,c"], store: folder.path())
        #expect(wrong.status == 2, "\(wrong.errors)")
        #expect(wrong.errors.contains("%2C"), "\(wrong.errors)")
    }

    @Test("A row is found by the id in its JSON")
    func idsOfJSON() async throws {
        let folder = try await store()
        for id in ["a%2Cb,c", "a,b%2Cc", "50%,x"] {
            let found = try ToolProcess.run(["history", "seats/\(id)", "--format", "jsonl"], store: folder.path())
            #expect(found.output.contains("\"id\":\"\(id)\""), "\(found.output)\(found.errors)")
        }
    }

    @Test("The id of JSON that is the name of another row means that row")
    func idsThatAreNames() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("lines.jsonl")
        let lines = ["h#v", "h%23v"].enumerated().map { index, id in
            #"{"tx":\#(index + 1),"op":"insert","table":"t","id":"\#(id)","row":{"x":1}}"# + "\n"
        }
        try lines.joined().write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try ToolProcess.run(["import", file], store: folder.path()).status == 0)
        for (name, id) in [("t/h%23v", "h#v"), ("t/h%2523v", "h%23v")] {
            let found = try ToolProcess.run(["history", name, "--format", "jsonl"], store: folder.path())
            #expect(found.output.contains("\"id\":\"\(id)\""), "\(found.output)\(found.errors)")
        }
    }

    @Test("A row of a dropped table has a history if it was deleted before")
    func droppedTable() async throws {
        let folder = try await store()
        let engine = try SampleStore.open(folder.path())
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "DELETE FROM seats WHERE row = '50%'")
        }
        let last = try await engine.read { try LogReader($0.connection).head().position } - 1
        _ = try await engine.commit(CommitMetadata()) { _, db in try db.execute(sql: "DROP TABLE seats") }
        try await engine.close()
        func run(_ arguments: String...) throws -> ToolProcess.Outcome {
            try ToolProcess.run(arguments, store: folder.path())
        }
        let history = try run("history", "seats/50%,x", "--format", "jsonl")
        #expect(history.status == 0, "\(history.errors)")
        #expect(history.output.split(separator: "\n").count == 2, "\(history.output)")
        #expect(history.output.contains("\"id\":\"50%,x\""), "\(history.output)")
        #expect(try run("history", "seats/50%,x", "--format", "human").output.contains("now: deleted"))
        let blame = try run("blame", "seats/50%,x", "--at", "@\(last)", "--format", "csv")
        #expect(blame.output.contains("guest 2"), "\(blame)")
        #expect(try run("blame", "seats/50%,x").errors.contains("deleted it"))
        let other = try run("history", "seats/a,b")
        #expect(other.status == 3, "\(other.errors)")
        #expect(other.errors.contains("was dropped with its rows"), "\(other.errors)")
        let short = try run("history", "seats/a")
        #expect(short.errors.contains("Its columns are row, place."), "\(short.errors)")
        #expect(try run("history", "seats/no,one").status == 3)
    }

    @Test("A key with a code is found as it is written, and never means another row")
    func keysWithCodes() async throws {
        let folder = try TemporaryFolder()
        let engine = try SampleStore.open(folder.path())
        let create = "CREATE TABLE u(id TEXT PRIMARY KEY, name TEXT, _position INTEGER NOT NULL DEFAULT 0)"
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(db, "u", create)
            for key in ["a/b", "a%2Fb", "x%2Fy", "v/w", "p#q", "p%23q"] {
                try db.execute(sql: "INSERT INTO u VALUES (?, ?, 0)", arguments: [key, key])
            }
        }
        try await engine.close()
        func history(_ target: String) throws -> ToolProcess.Outcome {
            try ToolProcess.run(["history", target, "--format", "jsonl"], store: folder.path())
        }
        // What is typed, and the row that is meant.
        for (typed, key) in [
            ("u/x%2Fy", "x%2Fy"), ("u/v%2Fw", "v/w"), ("u/a/b", "a/b"), ("u/a%252Fb", "a%2Fb"), ("u/p#q", "p#q"),
            ("u/p%23q", "p#q"), ("u/p%2523q", "p%23q"),
        ] {
            let found = try history(typed)
            #expect(found.output.contains("\"id\":\"\(key)\""), "\(typed): \(found.output)\(found.errors)")
        }
        for words in [["history", "u/a%2Fb"], ["restore-state", "@0", "u/a%2Fb", "--dry-run"]] {
            let outcome = try ToolProcess.run(words, store: folder.path())
            #expect(outcome.status == 2, "\(outcome.output)")
            let advice = "Write u/a%252Fb for the first, u/a/b for the second."
            #expect(outcome.errors.contains(advice), "\(outcome.errors)")
        }
        // What looks like a column is a part of the key.
        let whole = try ToolProcess.run(["restore-state", "@0", "u/p#q", "--dry-run"], store: folder.path())
        #expect(whole.output.contains("u/p%23q"), "\(whole.output)\(whole.errors)")
        let cell = try ToolProcess.run(["restore-state", "@0", "u/v/w#name", "--dry-run"], store: folder.path())
        #expect(cell.errors.contains("Only whole rows can be restored"), "\(cell.errors)")
    }

    @Test("A row is shown by its own name, however it was typed")
    func oneColumn() async throws {
        let folder = try TemporaryFolder()
        let engine = try SampleStore.open(folder.path())
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(
                db, "words",
                """
                CREATE TABLE words(word TEXT NOT NULL PRIMARY KEY, n INTEGER, _position INTEGER NOT NULL DEFAULT 0)
                """)
        }
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO words(word, n) VALUES ('a,b', 1)")
        }
        try await engine.close()
        for command in ["history", "blame"] {
            let shown = try ToolProcess.run([command, "words/a%2Cb", "--format", "human"], store: folder.path())
            #expect(shown.output.hasPrefix("words/a,b  "), "\(shown.output) \(shown.errors)")
        }
    }

    @Test("An infinite key is found as it is shown")
    func infiniteKeys() async throws {
        let folder = try TemporaryFolder()
        let engine = try SampleStore.open(folder.path())
        let tables = ["reals": "REAL", "others": ""]
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            for (table, type) in tables {
                try writer.adopt(
                    db, table,
                    "CREATE TABLE \(table)(id \(type) NOT NULL PRIMARY KEY, n, _position INTEGER NOT NULL DEFAULT 0)")
            }
        }
        _ = try await engine.commit(CommitMetadata()) { _, db in
            for table in tables.keys {
                try db.execute(sql: "INSERT INTO \(table)(id, n) VALUES (9e999, 1), (-9e999, 2)")
            }
        }
        try await engine.close()
        for row in tables.keys.flatMap({ ["\($0)/inf", "\($0)/-inf"] }) {
            let shown = try ToolProcess.run(["history", row, "--format", "human"], store: folder.path())
            #expect(shown.output.hasPrefix("\(row)  "), "\(shown.output) \(shown.errors)")
        }
        let missing = try ToolProcess.run(["history", "reals/nan"], store: folder.path())
        #expect(missing.errors.contains("There has never been a row reals/nan"), "\(missing.errors)")
    }

    /// A number that SQLite would read from the text is another row's.
    @Test("A row is named by the text that is shown, not by a number that this text could mean")
    func textsThatReadAsNumbers() async throws {
        let folder = try TemporaryFolder()
        let database = folder.path("plain.db")
        let queue = try DatabaseQueue(path: database)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE d(code PRIMARY KEY, v);
                    INSERT INTO d VALUES (1, 'a'), ('01', 'b'), ('+1', 'c'), (1000.0, 'd'), ('1e3', 'e'), (x'0a', 'f');
                    CREATE TABLE r(code REAL PRIMARY KEY, v);
                    INSERT INTO r VALUES (31, 'g'), ('0x1F', 'h'), (9e999, 'i'), ('infinity', 'j');
                    CREATE TABLE pair(a, b, v, PRIMARY KEY (a, b));
                    INSERT INTO pair VALUES (7, 1, 'k'), ('007', 1, 'l'), (1, 1, 'm'), ('1', '01', 'n');
                    """)
        }
        try queue.close()
        #expect(try ToolProcess.run(["adopt", database, "-s", folder.path()], store: nil).status == 0)
        for (row, value) in [
            ("d/1", "a"), ("d/01", "b"), ("d/+1", "c"), ("d/1000.0", "d"), ("d/1e3", "e"), ("d/0a", "f"),
            ("r/31.0", "g"), ("r/0x1F", "h"), ("r/inf", "i"), ("r/infinity", "j"), ("pair/7,1", "k"),
            ("pair/007,1", "l"), ("pair/1,1", "m"), ("pair/1,01", "n"), ("d/001", "a"), ("r/31", "g"),
        ] {
            let blame = try ToolProcess.run(["blame", "\(row)#v", "--format", "jsonl"], store: folder.path())
            #expect(blame.output.contains(#""value":"\#(value)""#), "\(row): \(blame.output)\(blame.errors)")
        }
        let changed = try ToolProcess.run(["exec", "UPDATE d SET v = v || '!'", "--yes"], store: folder.path())
        #expect(changed.status == 0, "\(changed.errors)")
        let restored = try ToolProcess.run(["restore-state", "t:1", "d/01", "--yes"], store: folder.path())
        #expect(restored.status == 0, "\(restored.errors)")
        let rows = try ToolProcess.run(
            ["sql", "SELECT v FROM d ORDER BY v", "--format", "jsonl"], store: folder.path())
        #expect(
            rows.output == ["a!", "b", "c!", "d!", "e!", "f!"].map { #"{"v":"\#($0)"}"# + "\n" }.joined(),
            "\(rows.output)")
    }

    @Test("Of the rows that a text can mean, an existing one comes before a deleted one, unless that one is printed so")
    func deletedRows() async throws {
        let folder = try TemporaryFolder()
        let database = folder.path("plain.db")
        let queue = try DatabaseQueue(path: database)
        try await queue.write { db in
            try db.execute(
                sql: "CREATE TABLE d(code PRIMARY KEY, v); INSERT INTO d VALUES (1, 'integer'), (5, 'integer')")
        }
        try queue.close()
        #expect(try ToolProcess.run(["adopt", database, "-s", folder.path()], store: nil).status == 0)
        for sql in ["DELETE FROM d", "INSERT INTO d(code, v) VALUES ('1', 'text'), (5.0, 'real')"] {
            let outcome = try ToolProcess.run(["exec", sql, "--yes"], store: folder.path())
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        for (row, value) in [("d/1", "text"), ("d/05", "real"), ("d/5.0", "real")] {
            let blame = try ToolProcess.run(["blame", "\(row)#v", "--format", "jsonl"], store: folder.path())
            #expect(blame.output.contains(#""value":"\#(value)""#), "\(row): \(blame.output)\(blame.errors)")
        }
        let deleted = try ToolProcess.run(["history", "d/5", "--format", "human"], store: folder.path())
        #expect(deleted.output.contains("now: deleted"), "\(deleted.output)\(deleted.errors)")
    }

    /// Swift treats the two spellings of é as equal, SQLite doesn't.
    @Test("Names that only a normalisation makes equal are two")
    func unnormalizedNames() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let folder = try TemporaryFolder()
        let database = folder.path("plain.db")
        let queue = try DatabaseQueue(path: database)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE "\(composed)"(id INTEGER PRIMARY KEY, "\(composed)" TEXT, "\(decomposed)" TEXT);
                    CREATE TABLE "\(decomposed)"(id INTEGER PRIMARY KEY, n TEXT);
                    INSERT INTO "\(composed)" VALUES (1, 'a', 'b');
                    INSERT INTO "\(decomposed)" VALUES (1, 'c'), (2, 'd');
                    """)
        }
        try queue.close()
        #expect(try ToolProcess.run(["adopt", database, "-s", folder.path()], store: nil).status == 0)
        func run(_ words: String...) throws -> ToolProcess.Outcome { try ToolProcess.run(words, store: folder.path()) }
        let engine = try SampleStore.open(folder.path())
        for (actor, sql) in [
            (decomposed, "UPDATE \"\(decomposed)\" SET n = 'e' WHERE id = 1"),
            (composed, "UPDATE \"\(composed)\" SET \"\(composed)\" = 'f'"),
            ("anna", "UPDATE \"\(composed)\" SET \"\(decomposed)\" = 'g'"),
        ] {
            _ = try await engine.commit(CommitMetadata(actor: actor)) { _, db in try db.execute(sql: sql) }
        }
        try await engine.close()
        let found: [(words: [String], commits: String)] = [
            (["--table", composed], "t:4\nt:3\nt:1\n"), (["--table", decomposed], "t:2\nt:1\n"),
            ([composed, "--column", composed, "--op", "update"], "t:3\n"),
            ([composed, "--column", decomposed, "--op", "update"], "t:4\n"),
            (["--actor", composed], "t:3\n"), (["--actor", decomposed], "t:2\n"),
        ]
        for (words, commits) in found {
            let log = try ToolProcess.run(["log", "--template", "{commit}"] + words, store: folder.path())
            #expect(log.output == commits, "\(words): \(log.errors)")
        }
        let lines = try run("log", "--format", "jsonl").output.split(separator: "\n")
        let first = Array((lines.last ?? "").utf8)
        for (name, count) in [(composed, 1), (decomposed, 2)] {
            #expect(first.firstRange(of: Array(#""\#(name)":{"insert":\#(count),"#.utf8)) != nil, "\(lines)")
        }
        let stats = Array(try run("stats", "--format", "json").output.utf8)
        for name in [composed, decomposed] { #expect(stats.firstRange(of: Array("\"\(name)\"".utf8)) != nil) }
        let history = try run("history", "\(composed)/1#\(decomposed)", "--format", "jsonl")
        #expect(history.status == 0, "\(history.output)\(history.errors)")
        #expect(history.output.contains("\"g\""), "\(history.output)\(history.errors)")
        let blame = try run(
            "blame", "\(composed)/1#\(composed)", "--ignore", "actor=\(decomposed)", "--format", "jsonl")
        #expect(blame.output.contains("\"commit\":3,"), "\(blame.output)\(blame.errors)")
    }

    @Test("Parts are read as they are written")
    func partsRoundTrip() {
        for key in Self.keys {
            let text = KeyText.text(of: [.text(key.0), .text(key.1)], in: nil)
            #expect(KeyText.parts(of: text) == [key.0, key.1], "\(text)")
        }
    }

    /// What counts for a row may be older than its last change: the newest is first all the same.
    @Test("A table's blame is ordered by what counts")
    func blameOrder() async throws {
        let folder = try TemporaryFolder()
        let engine = try SampleStore.open(folder.path())
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(
                db, "posts",
                "CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT, views INTEGER, _position INTEGER NOT NULL DEFAULT 0)"
            )
        }
        for (actor, sql) in [
            ("anna", "INSERT INTO posts(id, title, views) VALUES (1, 'one', 0)"),
            ("anna", "INSERT INTO posts(id, title, views) VALUES (2, 'two', 0)"),
            ("ben", "UPDATE posts SET title = 'zwei' WHERE id = 2"),
            ("ben", "UPDATE posts SET title = 'eins' WHERE id = 1"),
            ("bulk", "UPDATE posts SET views = 1 WHERE id = 2"), ("bulk", "UPDATE posts SET views = 1 WHERE id = 1"),
            ("bulk", "UPDATE posts SET views = 2 WHERE id = 2"),
        ] {
            _ = try await engine.commit(CommitMetadata(actor: actor)) { _, db in try db.execute(sql: sql) }
        }
        try await engine.close()
        func ids(_ options: String...) throws -> [String] {
            let outcome = try ToolProcess.run(["blame", "posts", "--format", "csv"] + options, store: folder.path())
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.output.split(separator: "\n").dropFirst().map { String($0.split(separator: ",")[1]) }
        }
        #expect(try ids() == ["2", "1"])
        #expect(try ids("--column", "title") == ["1", "2"])
        #expect(try ids("--column", "title", "-n", "1") == ["1"])
        #expect(try ids("--ignore", "actor=bulk", "-n", "1") == ["1"])
        #expect(try ids("--ignore", "actor=bulk", "--ignore", "actor=ben") == ["2", "1"])
        let unknown = try ToolProcess.run(["blame", "posts", "--ignore", "t:999"], store: folder.path())
        #expect(unknown.status == 3, "\(unknown.errors)")
        #expect(unknown.errors.contains("999"), "\(unknown.errors)")
    }
}
