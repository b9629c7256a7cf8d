import Foundation
import GRDB
import TestSupport
import Testing

extension AdoptTests {
    /// Adopts a database that statements make.
    private func adopt(_ sql: String, in folder: TemporaryFolder) throws -> ToolProcess.Outcome {
        let database = folder.path("plain.db")
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        // As in SQLite's shell, with which old databases were made.
        configuration.acceptsDoubleQuotedStringLiterals = true
        let queue = try DatabaseQueue(path: database, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: sql) }
        try queue.close()
        return try ToolProcess.run(["adopt", database, "-s", folder.path("app.sqlite")], store: nil)
    }

    /// A view or trigger that can be compiled with one more column, and whose meaning depends on the columns.
    struct Dependent: CustomTestStringConvertible, Sendable {
        let sql: String
        let name: String
        let refused: [String]
        var testDescription: String { sql }

        static let tables = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE b(id INTEGER PRIMARY KEY, w);
            CREATE TABLE other(id INTEGER PRIMARY KEY, x); CREATE TABLE archive(id INTEGER PRIMARY KEY, v, deleted);
            INSERT INTO t VALUES (1, 'a'); INSERT INTO b VALUES (1, 'a'); INSERT INTO other VALUES (1, 1);
            """

        static let all = [
            Dependent(
                sql: """
                    CREATE TRIGGER kept BEFORE DELETE ON t BEGIN
                    INSERT INTO archive SELECT *, datetime('now') FROM t WHERE id = old.id; END
                    """, name: "kept", refused: ["archive", "t"]),
            Dependent(
                sql: "CREATE VIEW joined AS SELECT v, w FROM t NATURAL JOIN b", name: "joined", refused: ["b", "t"]),
            Dependent(
                sql: """
                    CREATE TRIGGER joins AFTER INSERT ON other BEGIN
                    UPDATE archive SET v = (SELECT w FROM t natural left join b); END
                    """, name: "joins", refused: ["b", "t"]),
            Dependent(
                sql: "CREATE VIEW missing AS SELECT * FROM t EXCEPT SELECT * FROM b", name: "missing",
                refused: ["b", "t"]),
            Dependent(
                sql: """
                    CREATE VIEW "odd name" AS SELECT /* FROM other; */ [T].* FROM main."t" -- all of it'
                    INTERSECT SELECT * FROM `b`
                    """, name: "odd name", refused: ["b", "t"]),
            Dependent(
                sql: "CREATE VIEW few AS SELECT count(*) AS n FROM (SELECT * FROM t UNION SELECT * FROM b)",
                name: "few", refused: ["b", "t"]),
            Dependent(
                sql: "CREATE VIEW top AS SELECT *, v * 2 AS s FROM t ORDER BY 3 DESC LIMIT 1", name: "top",
                refused: ["t"]),
            Dependent(
                sql: "CREATE VIEW counts AS SELECT *, count(*) FROM b JOIN other ON b.id = other.id GROUP BY b.id, (3)",
                name: "counts", refused: ["b", "other"]),
            Dependent(
                sql: """
                    CREATE VIEW first AS SELECT id FROM other
                    WHERE x IN (SELECT v FROM (SELECT t.*, 1 FROM t ORDER BY 3))
                    """, name: "first", refused: ["other", "t"]),
            Dependent(
                sql: """
                    CREATE VIEW wide AS SELECT * FROM t;
                    CREATE VIEW ordered AS SELECT *, 1 FROM wide ORDER BY 1, 3 COLLATE nocase
                    """, name: "ordered", refused: ["t"]),
            Dependent(
                sql: """
                    CREATE VIEW wide AS SELECT * FROM t; CREATE VIEW wider AS SELECT wide.* FROM wide;
                    CREATE TRIGGER copies AFTER INSERT ON other BEGIN INSERT INTO archive SELECT *, 1 FROM wider; END
                    """, name: "copies", refused: ["archive", "t"]),
        ]
    }

    @Test("A table stays without history if its new column would change a view or trigger", arguments: Dependent.all)
    func dependentsOfColumns(_ dependent: Dependent) throws {
        let folder = try TemporaryFolder()
        let outcome = try adopt(Dependent.tables + dependent.sql, in: folder)
        #expect(outcome.status == 8, "\(outcome)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        for table in ["archive", "b", "other", "t"] {
            let line = lines.first { $0.hasPrefix("! \(table) has no history:") }
            #expect((line != nil) == dependent.refused.contains(table), "\(table): \(outcome.output)")
            if let line { #expect(line.contains("\"\(dependent.name)\""), "\(line)") }
        }
        let table = try #require(dependent.refused.last)
        let refused = try ToolProcess.run(
            ["adopt", folder.path("plain.db"), table, "-s", folder.path("new.sqlite")], store: nil)
        #expect(refused.status == 7, "\(refused)")
        #expect(refused.errors.contains("\"\(dependent.name)\""), "\(refused.errors)")
    }

    @Test("Views and triggers that don't depend on the columns prevent nothing")
    func independentOfColumns() throws {
        let folder = try TemporaryFolder()
        let outcome = try adopt(
            """
            \(Dependent.tables)
            DROP TABLE archive;
            CREATE VIEW wide AS SELECT * FROM t;
            CREATE VIEW named AS SELECT id, 'NATURAL JOIN' AS "EXCEPT" FROM t UNION SELECT id, w * 2 FROM b;
            CREATE VIEW "natural" AS WITH RECURSIVE n(i) AS (SELECT id FROM t UNION SELECT i + 1 FROM n WHERE i < 3)
                SELECT * FROM n; -- NATURAL JOIN
            CREATE VIEW sorted AS SELECT id, v FROM t ORDER BY 2 LIMIT 3, 4;
            CREATE VIEW ordered AS SELECT *, row_number() OVER (ORDER BY 2), max(2, 3) FROM t
                ORDER BY 1, v + 2, 2 * v, max(v, 2) LIMIT 4, 5;
            CREATE TRIGGER counts AFTER INSERT ON other WHEN EXISTS (SELECT * FROM t) BEGIN
                UPDATE b SET w = (SELECT count(*) * 2 FROM t); END;
            """, in: folder)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("The view \"wide\" shows the column _position too."), "\(outcome.output)")
        #expect(outcome.output.contains("Adopted 3 tables"), "\(outcome.output)")
    }

    /// SQLite's shell reads text in double quotes as text, and a store's connections don't.
    @Test(
        "A text in double quotes is refused, and what has it is named",
        arguments: [
            (#"CREATE INDEX i ON t("lit")"#, #""lit" in the index "i""#),
            (#"CREATE INDEX i ON t(v) WHERE v <> "it's""#, #""it's" in the index "i""#),
            (#"CREATE TABLE c(id INTEGER PRIMARY KEY, a CHECK (a IN ("lit", 'b')))"#, #""lit" in the table "c""#),
            (
                #"CREATE TABLE c(id INTEGER PRIMARY KEY, a COLLATE swiftCompare CHECK (swiftLowercaseString(a) <> "lit"))"#,
                #""lit" in the table "c""#
            ),
            (#"CREATE VIEW w AS SELECT * FROM r; CREATE VIEW r AS SELECT id, "lit" FROM t"#, #""lit" in the view "r""#),
            (#"CREATE VIEW r AS SELECT "id" FROM "t" WHERE "v" <> """#, "\"\" in the view \"r\""),
            (
                #"CREATE TRIGGER g AFTER DELETE ON t BEGIN INSERT INTO t(v) VALUES ("lit2"); END"#,
                #""lit2" in the trigger "g""#
            ),
            (
                #"""
                CREATE VIEW r AS SELECT id FROM t;
                CREATE TRIGGER g INSTEAD OF UPDATE ON r BEGIN UPDATE t SET v = "lit" WHERE id = new.id; END
                """#, #""lit" in the trigger "g""#
            ),
        ])
    func doubleQuotedTexts(sql: String, named: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try adopt("CREATE TABLE t(id INTEGER PRIMARY KEY, v); \(sql);", in: folder)
        #expect(outcome.status == 7, "\(outcome)")
        #expect(outcome.errors.contains("names of columns: \(named)."), "\(outcome.errors)")
        #expect(outcome.errors.contains("single quotes"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("app.sqlite")))
    }

    @Test("Names in double quotes prevent nothing")
    func doubleQuotedNames() throws {
        let folder = try TemporaryFolder()
        let outcome = try adopt(
            #"""
            CREATE TABLE "t"("id" INTEGER PRIMARY KEY, "v" DEFAULT "none" CHECK ("v" <> ''));
            CREATE VIRTUAL TABLE "docs" USING fts5("text");
            CREATE INDEX "i" ON "t"("v" COLLATE "nocase");
            CREATE VIEW "r" AS SELECT "v" AS "w" FROM "t" GROUP BY "w";
            CREATE TRIGGER "g" AFTER INSERT ON "t" WHEN "new"."v" = 'x' BEGIN SELECT "new"."v"; END;
            """#, in: folder)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("Adopted 1 table"), "\(outcome.output)")
    }

    @Test("A view that can't be read prevents nothing")
    func brokenView() throws {
        let folder = try TemporaryFolder()
        let outcome = try adopt(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a');
            CREATE VIEW broken AS SELECT * FROM nope; CREATE VIEW fine AS SELECT v FROM t;
            """, in: folder)
        #expect(outcome.status == 0, "\(outcome)")
        let store = folder.path("app.sqlite")
        #expect(try Self.objects(at: store).contains("view broken CREATE VIEW broken AS SELECT * FROM nope"))
        #expect(try ToolProcess.run(["verify"], store: store).status == 0)
    }

    @Test(
        "A table that hides one of SQLite's own is reported, and prevents nothing",
        arguments: ["pragma_table_list", "Dbstat"])
    func hidingBuiltIn(name: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try adopt(
            """
            CREATE TABLE \(name)(id INTEGER PRIMARY KEY); CREATE TABLE t(id INTEGER PRIMARY KEY, v);
            INSERT INTO t VALUES (1, 'a');
            """, in: folder)
        #expect(outcome.status == 8, "\(outcome)")
        let reason = "! \(name) has no history: its name is that of a table that SQLite has built in."
        #expect(outcome.output.contains(reason), "\(outcome.output)")
        #expect(outcome.output.contains("Adopted 1 table"), "\(outcome.output)")
    }

    /// Every change of such a table would fail.
    @Test("A foreign key to a missing table or key is reported")
    func foreignKeyToNothing() throws {
        var folder = try TemporaryFolder()
        let tables = """
            CREATE TABLE p(a, id INTEGER PRIMARY KEY);
            CREATE TABLE other(id INTEGER PRIMARY KEY REFERENCES P(id));
            """
        let missing = try adopt(
            tables + "CREATE TABLE t(id INTEGER PRIMARY KEY, b REFERENCES nope(a)); INSERT INTO t VALUES (1, NULL)",
            in: folder)
        #expect(missing.status == 8, "\(missing)")
        let reason = "! t has no history: its foreign key refers to \"nope\", and there is no such table."
        #expect(missing.output.contains(reason), "\(missing.output)")
        #expect(missing.output.contains("Adopted 2 tables"), "\(missing.output)")
        folder = try TemporaryFolder()
        let mismatched = try adopt(
            tables + "CREATE TABLE t(id INTEGER PRIMARY KEY, b REFERENCES p(a)); INSERT INTO t VALUES (1, NULL)",
            in: folder)
        #expect(mismatched.status == 7, "\(mismatched)")
        #expect(mismatched.errors.contains(#""t" referencing "p""#), "\(mismatched.errors)")
        #expect(mismatched.errors.contains("give the columns a UNIQUE index"), "\(mismatched.errors)")
    }

    /// Without them, SQLite refuses the tables' changes, their check, and new tables like them.
    @Test("A table that uses a function or a collation of its program isn't adopted, and isn't called damaged")
    func missingDefinitions() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("plain.db")
        let queue = try DatabaseQueue(path: database)
        try queue.inDatabase { db in
            db.add(function: DatabaseFunction("initials", argumentCount: 1, pure: true) { $0[0] })
            db.add(
                collation: DatabaseCollation("BYNAME") {
                    $0 == $1 ? .orderedSame : $0 < $1 ? .orderedAscending : .orderedDescending
                })
            try db.execute(
                sql: """
                    CREATE TABLE checked(id INTEGER PRIMARY KEY, n TEXT CHECK (initials(n) <> ''));
                    CREATE TABLE indexed(id INTEGER PRIMARY KEY, n TEXT); CREATE INDEX i ON indexed(initials(n));
                    CREATE TABLE part(id INTEGER PRIMARY KEY, n TEXT); CREATE INDEX p ON part(id) WHERE initials(n) > 1;
                    CREATE TABLE defaulted(id INTEGER PRIMARY KEY, n TEXT DEFAULT (initials('a')));
                    CREATE TABLE collated(id INTEGER PRIMARY KEY, n TEXT COLLATE BYNAME);
                    CREATE TABLE keyed(id TEXT NOT NULL COLLATE BYNAME PRIMARY KEY);
                    CREATE TABLE referring(id INTEGER PRIMARY KEY, k TEXT REFERENCES keyed(id));
                    CREATE TABLE fine(id INTEGER PRIMARY KEY, n TEXT);
                    CREATE TRIGGER t AFTER INSERT ON fine BEGIN SELECT initials(new.n); END;
                    CREATE TRIGGER u AFTER INSERT ON fine BEGIN SELECT 1 ORDER BY new.n COLLATE BYNAME; END;
                    INSERT INTO checked VALUES (1, 'a'); INSERT INTO indexed VALUES (1, 'a');
                    INSERT INTO part VALUES (1, 'a'); INSERT INTO defaulted(id) VALUES (1);
                    INSERT INTO collated VALUES (1, 'a'); INSERT INTO keyed VALUES ('a');
                    INSERT INTO referring VALUES (1, 'a'); INSERT INTO fine VALUES (1, 'a');
                    """)
        }
        try queue.close()
        let store = folder.path("app.sqlite")
        let outcome = try ToolProcess.run(["adopt", database, "-s", store], store: nil)
        #expect(outcome.status == 8, "\(outcome)")
        #expect(outcome.output.contains("Adopted 1 table with 1 row"), "\(outcome.output)")
        for (table, missing) in [
            ("checked", "function initials"), ("indexed", "function initials"), ("part", "function initials"),
            ("defaulted", "function initials"), ("collated", "collation BYNAME"), ("keyed", "collation BYNAME"),
            ("referring", "collation BYNAME"),
        ] {
            let line = "! \(table) has no history: it uses the \(missing), which isn't registered in this process."
            #expect(outcome.output.contains(line), "\(outcome.output)")
        }
        let verified = try ToolProcess.run(["verify"], store: store)
        #expect(verified.status == 0, "\(verified)")
        for (table, missing) in [("indexed", "function initials"), ("keyed", "collation BYNAME")] {
            let line = "? file \(table): its indexes and constraints weren't verified: the \(missing) isn't registered"
            #expect(verified.output.contains(line), "\(verified.output)")
        }
        let line = "? schema referring: its foreign keys can't be checked: the collation BYNAME isn't registered"
        #expect(verified.output.contains(line), "\(verified.output)")
        for arguments in [["doctor"], ["doctor", "--deep"]] {
            let checked = try ToolProcess.run(arguments, store: store)
            #expect(!checked.output.contains("fail"), "\(checked.output)")
            #expect(checked.output.contains("keyed wasn't checked: the collation BYNAME"), "\(checked.output)")
        }
    }

    /// SQLite checks every table then: it reads the name as the most problems to list.
    @Test(
        "A table whose name begins with a number is adopted although another table can't be checked",
        arguments: ["7", "2024_orders", "-0x5"])
    func nameReadAsNumber(name: String) throws {
        let folder = try TemporaryFolder()
        let database = folder.path("plain.db")
        let queue = try DatabaseQueue(path: database)
        try queue.inDatabase { db in
            db.add(function: DatabaseFunction("initials", argumentCount: 1, pure: true) { $0[0] })
            try db.execute(
                sql: """
                    CREATE TABLE indexed(id INTEGER PRIMARY KEY, n TEXT); CREATE INDEX i ON indexed(initials(n));
                    CREATE TABLE "\(name)"(id INTEGER PRIMARY KEY, n TEXT);
                    INSERT INTO "\(name)" VALUES (1, 'a')
                    """)
        }
        try queue.close()
        let store = folder.path("app.sqlite")
        let outcome = try ToolProcess.run(["adopt", database, "-s", store], store: nil)
        #expect(outcome.status == 8, "\(outcome)")
        #expect(outcome.output.contains("Adopted 1 table with 1 row"), "\(outcome.output)")
        #expect(outcome.output.contains("! indexed has no history"), "\(outcome.output)")
        // Only its pages and the values of its rows: the other index keeps SQLite from checking them all.
        let verified = try ToolProcess.run(["verify"], store: store)
        #expect(verified.status == 0, "\(verified)")
        let line = "? file \(name): its indexes and constraints weren't verified: the function initials"
        #expect(verified.output.contains(line), "\(verified.output)")
    }

    @Test("A table that uses a collation or function of GRDB is adopted")
    func definitionsOfGRDB() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("plain.db")
        let queue = try DatabaseQueue(path: database)
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE collated(id TEXT NOT NULL COLLATE swiftCompare PRIMARY KEY,
                        n TEXT COLLATE swiftLocalizedStandardCompare CHECK (swiftLowercaseString(n) <> ''));
                    CREATE INDEX i ON collated(swiftUppercaseString(n));
                    INSERT INTO collated VALUES ('b', 'B'), ('a', 'A')
                    """)
        }
        try queue.close()
        let outcome = try ToolProcess.run(["adopt", database, "-s", folder.path("app.sqlite")], store: nil)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("Adopted 1 table with 2 rows"), "\(outcome.output)")
    }

    /// The remedy is to change or delete the row, so it must be the right one.
    @Test("A row that can't be recorded is named by its rowid")
    func rowidOfObstacle() throws {
        let folder = try TemporaryFolder()
        let outcome = try adopt(
            """
            CREATE TABLE gaps(a TEXT PRIMARY KEY, v); INSERT INTO gaps(rowid, a) VALUES (4, 'x'), (5, NULL), (7, 'y');
            CREATE TABLE named(rowid TEXT PRIMARY KEY, v); INSERT INTO named(oid, rowid) VALUES (3, 'x'), (8, NULL);
            CREATE TABLE listed(a TEXT PRIMARY KEY); INSERT INTO listed(rowid, a) VALUES (6, 'x'), (9, NULL);
            """, in: folder)
        #expect(outcome.status == 8, "\(outcome)")
        for (table, rowid) in [("gaps", 5), ("named", 8), ("listed", 9)] {
            #expect(
                outcome.output.contains("! \(table) has no history: its rowid \(rowid) has NULL"), "\(outcome.output)")
        }
    }

    /// `import` needs names, so what is exported of such a table couldn't be imported.
    @Test("Tables and columns without a name are refused")
    func emptyNames() throws {
        let folder = try TemporaryFolder()
        let outcome = try adopt(
            """
            CREATE TABLE ""(id INTEGER PRIMARY KEY, a); INSERT INTO "" VALUES (1, 2);
            CREATE TABLE k("" INTEGER PRIMARY KEY, a); CREATE TABLE v(id INTEGER PRIMARY KEY, "");
            CREATE TABLE fine(id INTEGER PRIMARY KEY, " ");
            """, in: folder)
        #expect(outcome.status == 8, "\(outcome)")
        for line in [
            "!  has no history: its name is empty.", "! k has no history: it has a column whose name is empty.",
            "! v has no history: it has a column whose name is empty.", "Adopted 1 table with 0 rows",
        ] { #expect(outcome.output.contains(line), "\(outcome.output)") }
    }
}
