import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageKit
import StorageProjections
import TestSupport
import Testing

/// The tables in which `sql` asks the history, and points by time, in stores with names and commits that stand in the way.
struct HistoryTableTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store(_ lines: [String]) throws -> String {
        let file = folder.path("history.jsonl")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
        let imported = try ToolProcess.run(["import", file], store: folder.path())
        try #require(imported.status == 0, "\(imported.errors)")
        return folder.path()
    }

    private func line(_ tx: Int, _ table: String, _ row: String, at time: String = "2024-05-01T10:00:00Z") -> String {
        #"{"tx":\#(tx),"at":"\#(time)","op":"insert","table":"\#(table)","id":"\#(tx)","row":\#(row)}"#
    }

    @Test("Names of the user's tables take precedence")
    func ownNamesFirst() throws {
        let store = try store([
            line(1, "posts", #"{"t":"x","_op":1,"_Time":2,"old_t":3,"_until":4}"#),
            line(2, "history_posts", #"{"a":1}"#),
            line(3, "commits", #"{"b":1}"#),
        ])
        func answer(_ sql: String) throws -> String {
            let outcome = try ToolProcess.run(["sql", sql, "--format", "jsonl"], store: store)
            #expect(outcome.status == 0, "\(sql): \(outcome.errors)")
            return outcome.output
        }
        #expect(
            try answer(#"SELECT t, _op, __op, "_Time" AS n FROM storage_history_posts"#)
                == #"{"t":"x","_op":1,"__op":"insert","n":2}"# + "\n")
        #expect(try answer("SELECT __until FROM storage_history_posts") == #"{"__until":null}"# + "\n")
        #expect(try answer("SELECT new_t, new_old_t FROM changes_posts") == #"{"new_t":"x","new_old_t":3}"# + "\n")
        #expect(try answer("SELECT a FROM history_posts") == #"{"a":1}"# + "\n")
        #expect(try answer("SELECT b FROM commits") == #"{"b":1}"# + "\n")
        #expect(try answer("SELECT count(*) AS n FROM storage_commits WHERE number <= 3") == #"{"n":3}"# + "\n")
    }

    /// It has two columns for each, and SQLite allows 2,000.
    @Test("A table of changes that would be too wide is refused with what to ask instead")
    func tooWideForChanges() throws {
        func row(_ count: Int) -> String {
            "{\((0..<count).map { "\"c\($0)\":\($0)" }.joined(separator: ","))}"
        }
        let store = try store([line(1, "wide", row(1_000)), line(2, "fits", row(990))])
        let refused = try ToolProcess.run(["sql", "SELECT count(*) FROM changes_wide"], store: store)
        #expect(refused.status != 0)
        #expect(refused.errors.contains("SQLite allows 2000"), "\(refused.errors)")
        #expect(refused.errors.contains("\"history_wide\""), "\(refused.errors)")
        for table in ["history_wide", "changes_fits"] {
            let outcome = try ToolProcess.run(
                ["sql", "SELECT count(*) AS n FROM \(table)", "--format", "jsonl"], store: store)
            #expect(outcome.output == #"{"n":1}"# + "\n", "\(outcome.errors)")
        }
    }

    /// What people ask first of a table of versions: which rows exist, and what they were at a time.
    @Test("The current version of a row that exists has no end")
    func currentVersions() throws {
        let store = try store([
            line(1, "posts", #"{"n":1}"#), line(2, "posts", #"{"n":1}"#),
            #"{"tx":3,"reason":"spam","op":"delete","table":"posts","id":"1"}"#,
            #"{"tx":4,"op":"update","table":"posts","id":"2","row":{"n":2}}"#,
            #"{"tx":5,"op":"insert","table":"posts","id":"1","row":{"n":3}}"#,
            #"{"tx":6,"op":"delete","table":"posts","id":"2"}"#,
        ])
        func answer(_ sql: String) throws -> String {
            let outcome = try ToolProcess.run(["sql", sql, "--format", "csv"], store: store)
            #expect(outcome.status == 0, "\(sql): \(outcome.errors)")
            return outcome.output.split(separator: "\n").dropFirst().joined(separator: " ")
        }
        #expect(try answer("SELECT id, n FROM history_posts WHERE _until IS NULL") == "1,3")
        #expect(try answer("SELECT _reason FROM history_posts WHERE _op = 'delete' AND id = 1") == "spam")
        for position in 1...6 {
            let past = try ToolProcess.run(
                ["at", "@\(position)", "SELECT id, n FROM posts ORDER BY id", "--format", "csv"], store: store)
            let rows = past.output.split(separator: "\n").dropFirst().joined(separator: " ")
            let versions = "_position <= \(position) AND (_until IS NULL OR _until > \(position))"
            #expect(try answer("SELECT id, n FROM history_posts WHERE \(versions) ORDER BY id") == rows, "@\(position)")
        }
    }

    /// SQLite's authorizer hears nothing of the columns that USING compares.
    @Test(
        "A query of the past may read nothing of a table but what joins it",
        arguments: [
            "SELECT posts.t AS t FROM posts JOIN tags USING (id)", "SELECT t FROM tags LEFT JOIN posts USING (id)",
            "WITH both AS (SELECT posts.t AS t FROM tags JOIN posts USING (id)) SELECT t FROM both",
        ])
    func joiningByName(sql: String) throws {
        let store = try store([
            line(1, "posts", #"{"t":"one"}"#), line(1, "tags", #"{"n":1}"#), line(2, "posts", #"{"t":"two"}"#),
            #"{"tx":3,"op":"update","table":"posts","id":"1","row":{"t":"more"}}"#,
        ])
        let then = try ToolProcess.run(["at", "t:2", sql, "--format", "csv"], store: store)
        #expect(then.output.split(whereSeparator: \.isNewline) == ["t", "one"], "\(then.errors)")
        let found = try ToolProcess.run(["bisect", "SELECT t = 'more' FROM (\(sql))"], store: store)
        #expect(found.status == 0, "\(found.output)\(found.errors)")
        #expect(found.output.contains("t:3"), "\(found.output)\(found.errors)")
    }

    @StorageEntity(table: "posts") struct Post {
        var id: Int
        var title: String
    }

    /// Whatever SQL finds in the store can be asked together with its history, with the indexes that are there.
    @Test("Views, indexes and projections can be queried too")
    func viewsIndexesAndProjections() async throws {
        let storage = try StorageKit.start(at: URL(fileURLWithPath: folder.path())) { schema in
            schema.autoSchema(PostRecord.self)
            schema.addFullTextSearch(table: "posts", columns: ["title"])
            schema.addProjection(
                try SQLProjection(
                    name: "lengths",
                    sql: """
                        CREATE TABLE lengths(id INTEGER PRIMARY KEY, length INTEGER);
                        -- on insert, update of posts
                        INSERT OR REPLACE INTO lengths VALUES (:new_id, length(:new_title));
                        """))
            schema.migration("view") {
                try $0.execute(sql: "CREATE VIEW commits AS SELECT count(*) AS posts FROM posts")
            }
        }.facade
        let first = try await storage.save([Post(id: 1, title: "one"), Post(id: 2, title: "two")])
        try await storage.save(Post(id: 1, title: "one more"))
        try await storage.close()
        func answer(_ sql: String) throws -> String {
            let outcome = try ToolProcess.run(["sql", sql, "--format", "csv"], store: folder.path())
            #expect(outcome.status == 0, "\(sql): \(outcome.errors)")
            return outcome.output.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ")
        }
        #expect(try answer("SELECT length FROM lengths ORDER BY id") == "8 3")
        #expect(try answer("SELECT posts FROM commits") == "2")
        #expect(
            try answer("SELECT count(*) FROM storage_commits c JOIN history_posts h ON h._commit = c.number") == "3")
        #expect(
            try answer(
                "SELECT l.length, count(*) FROM lengths l JOIN changes_posts p USING (id) GROUP BY l.id ORDER BY l.id")
                == "8,2 3,1")
        let index = try answer(
            "SELECT name FROM sqlite_schema WHERE name GLOB 'storage_fts_[0-9]*' AND sql LIKE '%fts5%'")
        #expect(try answer("SELECT rowid FROM \(index) WHERE \(index) MATCH 'more'") == "1")
        #expect(try answer("EXPLAIN QUERY PLAN SELECT * FROM posts WHERE id = 1").contains("USING INTEGER PRIMARY KEY"))
        // And of the past: the index of then, and the view of now.
        let then = "@\(first.last)"
        for (sql, expected) in [
            ("SELECT rowid FROM \(index) WHERE \(index) MATCH 'one'", "1"),
            ("SELECT rowid FROM \(index) WHERE \(index) MATCH 'more'", ""),
            ("SELECT posts.title FROM posts JOIN \(index) i ON i.rowid = posts.id WHERE i.title MATCH 'two'", "two"),
            ("SELECT posts FROM commits", "2"),
        ] {
            for schema in ["as-recorded", "current"] {
                let outcome = try ToolProcess.run(
                    ["at", then, sql, "--schema", schema, "--format", "csv"], store: folder.path())
                #expect(outcome.status == 0, "\(sql): \(outcome.errors)")
                let rows = outcome.output.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ")
                #expect(rows == expected, "\(sql) \(schema)")
            }
        }
        let twice = try ToolProcess.run(
            ["sql", "SELECT id, id FROM posts ORDER BY 1 LIMIT 1", "--format", "jsonl"], store: folder.path())
        #expect(twice.output == #"{"id":1,"id:1":1}"# + "\n")
        for sql in ["DELETE FROM posts", "SELECT 1; SELECT 2", "CREATE TABLE x(y)", "ATTACH 'x' AS y", " ; "] {
            let outcome = try ToolProcess.run(["sql", sql], store: folder.path())
            #expect(outcome.status == 2, "\(sql): \(outcome.output)\(outcome.errors)")
        }
        let missing = try ToolProcess.run(["sql", "SELECT * FROM histroy_posts"], store: folder.path())
        #expect(missing.status == 3, "\(missing.errors)")
        #expect(missing.errors.contains("history_posts"), "\(missing.errors)")
    }

    @Test(
        "Times have microseconds",
        arguments: [
            ("2024-05-01T10:00:00.001Z", "2024-05-01T10:00:00.001000Z"),
            ("2024-05-01T10:00:00.576156Z", "2024-05-01T10:00:00.576156Z"),
            ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000000Z"),
        ])
    func microseconds(time: String, expected: String) throws {
        let store = try store([line(1, "posts", #"{"t":"x"}"#, at: time)])
        let outcome = try ToolProcess.run(
            ["sql", "SELECT time FROM commits WHERE number = 1", "--format", "jsonl"], store: store)
        #expect(outcome.output == #"{"time":"\#(expected)"}"# + "\n")
    }

    /// What the store has recorded of itself is behind the last change of the data, and isn't what somebody means by a time.
    @Test("A time means the last commit of data")
    func timeMeansLastDataCommit() throws {
        let store = try store([line(1, "posts", #"{"t":"x"}"#), line(2, "posts", #"{"t":"y"}"#)])
        // t:3 records the import, and t:4 the tag.
        #expect(try ToolProcess.run(["tag", "imported"], store: store).status == 0)
        for point in ["now", "head", "t:3", "t:4"] {
            let state = try ToolProcess.run(["at", point, "posts"], store: store)
            #expect(state.output.split(separator: "\n").first?.hasSuffix("(t:2)") == true, "\(point): \(state.output)")
        }
        let reverted = try ToolProcess.run(["revert", "now", "--yes"], store: store)
        #expect(reverted.status == 0, "\(reverted.errors)")
        let rows = try ToolProcess.run(["sql", "SELECT id FROM posts", "--format", "jsonl"], store: store)
        #expect(rows.output == #"{"id":"1"}"# + "\n")
    }

    /// A column's collation is part of what its table finds.
    @Test("A condition on history finds what it finds in the table")
    func collationOfColumns() async throws {
        let database = folder.path("people.db")
        let queue = try DatabaseQueue(path: database)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE);
                    INSERT INTO people VALUES (1, 'BOB'), (2, 'anna');
                    """)
        }
        try queue.close()
        let store = folder.path()
        #expect(try ToolProcess.run(["adopt", database, "-s", store], store: nil).status == 0)
        for table in ["people", "history_people"] {
            let sql = "SELECT id FROM \(table) WHERE name = 'bob'"
            let found = try ToolProcess.run(["sql", sql, "--format", "jsonl"], store: store)
            #expect(found.output == #"{"id":1}"# + "\n", "\(table): \(found.output)\(found.errors)")
        }
        let log = try ToolProcess.run(["log", "people", "--where", "name = 'bob'", "--oneline"], store: store)
        #expect(log.status == 0, "\(log.output)\(log.errors)")
        #expect(log.output.contains("t:1"), "\(log.output)\(log.errors)")
    }

    @Test("A column of the answer keeps apart from the one that is written before it")
    func columnsBesideOwn() throws {
        let store = try store([line(1, "posts", #"{"t":"x"}"#), line(2, "posts", #"{"t":"y"}"#)])
        let each = try ToolProcess.run(
            ["at", "t:1", "SELECT 1 AS point", "--each", "t:2", "--format", "jsonl"], store: store)
        #expect(each.output == #"{"point":"t:1","point:1":1}"# + "\n" + #"{"point":"t:2","point:1":1}"# + "\n")
        let difference = try ToolProcess.run(
            ["at", "t:1", "SELECT count(*) AS change FROM posts", "--diff-with", "t:2", "--format", "csv"], store: store
        )
        #expect(difference.output.hasPrefix("change,change:1\n"), "\(difference.output)\(difference.errors)")
    }

    @Test("The error about a time says which forms there are", arguments: ["2024-05-03T10", "2024-02-30"])
    func impossibleTimes(time: String) throws {
        let store = try store([line(1, "posts", #"{"t":"x"}"#)])
        let outcome = try ToolProcess.run(["at", time, "SELECT 1"], store: store)
        #expect(outcome.status == 2, "\(outcome.errors)")
        #expect(outcome.errors.contains("isn't a point in history"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("in quotes"), "\(outcome.errors)")
        #expect(outcome.errors.contains("2024-05-01"), "\(outcome.errors)")
    }

    @Test("watch refuses what isn't a condition in its own words", arguments: ["1;2", "", "t ="])
    func watchedConditions(condition: String) throws {
        let store = try store([line(1, "posts", #"{"t":"x"}"#)])
        let outcome = try ToolProcess.run(["watch", "posts", "--where", condition, "--for", "0"], store: store)
        #expect(outcome.status == 2, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.errors.contains("--where"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("SELECT"), "\(outcome.errors)")
    }

    /// As the documentation writes it.
    @Test("Times in SQL have six digits")
    func timesInSQL() throws {
        let store = try store([line(1, "posts", #"{"t":"x"}"#)])
        for condition in [
            "_time = '2024-05-01T10:00:00.000000Z'", "_time >= '2024-05-01T10' AND _time < '2024-05-01T11'",
        ] {
            let sql = "SELECT t FROM history_posts WHERE \(condition)"
            let found = try ToolProcess.run(["sql", sql, "--format", "csv"], store: store)
            #expect(found.output == "t\nx\n", "\(condition): \(found.errors)")
        }
    }

    @Test("A range that ends before it begins is refused")
    func reversedRange() throws {
        let store = try store([line(1, "posts", #"{"t":"x"}"#), line(2, "posts", #"{"t":"y"}"#)])
        for command in [["log", "t:2..t:1"], ["grep", "x", "t:2..t:1"], ["replay", "t:2..t:1"]] {
            let outcome = try ToolProcess.run(command, store: store)
            #expect(outcome.status == 2, "\(command): \(outcome.output)\(outcome.errors)")
        }
    }
}
