import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import StorageLog
import TestSupport
import Testing

/// `import` into tables that weren't made by an import: adopted ones, with types, keys and constraints of their own.
@Suite struct DeclaredImportTests {
    /// Makes a database, and a store of it.
    static func adopt(_ sql: String, in folder: TemporaryFolder, as name: String) throws -> String {
        let (database, store) = (folder.path("\(name).db"), folder.path("\(name).sqlite"))
        try DatabaseQueue(path: database).write { try $0.execute(sql: sql) }
        let adopted = try ToolProcess.run(["adopt", database, "-s", store], store: nil)
        // A table without a key is left as it is, which is partly done.
        try #require([0, 8].contains(adopted.status), "\(adopted.output)\(adopted.errors)")
        return store
    }

    static func write(_ lines: [String], in folder: TemporaryFolder, as name: String) throws -> String {
        let path = folder.path(name)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// The operations of a store, without the numbers and times of their commits, and where commits begin.
    static func operations(of store: String) throws -> [String] {
        let export = try ToolProcess.run(["export"], store: store)
        try #require(export.status == 0, "\(export.errors)")
        var last: Substring = ""
        return export.output.split(separator: "\n").map { line in
            let parts = line.split(separator: ",", maxSplits: 2)
            defer { last = parts[0] }
            return (parts[0] == last ? "" : "commit ") + parts[2]
        }
    }

    static func expectSound(_ store: String, _ comment: Comment) throws {
        for command in [["verify"], ["rebuild", "--compare"]] {
            let outcome = try ToolProcess.run(command, store: store)
            #expect(outcome.status == 0, "\(comment): \(command) \(outcome.output)\(outcome.errors)")
        }
    }

    private static let shop = """
        CREATE TABLE customers(
          id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE UNIQUE, vip BOOLEAN NOT NULL DEFAULT 0,
          balance REAL CHECK (balance >= 0));
        CREATE TABLE orders(
          id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers(id) ON DELETE CASCADE, qty NUMERIC);
        CREATE TABLE lines(
          ord INTEGER NOT NULL REFERENCES orders(id), sku TEXT NOT NULL, n INT, extra BLOB, PRIMARY KEY (ord, sku)) STRICT;
        CREATE TABLE audit(id INTEGER PRIMARY KEY, what TEXT);
        CREATE TRIGGER noted AFTER INSERT ON customers BEGIN INSERT INTO audit(what) VALUES (new.name); END;
        INSERT INTO customers VALUES (1, 'Anna', 1, 5.5), (2, 'Ben', 0, NULL);
        INSERT INTO orders VALUES (10, 1, 3), (11, 2, 2.5);
        """

    // MARK: Lines

    @Test("Operations are written by the columns' types")
    func typedOperations() throws {
        let folder = try TemporaryFolder()
        let store = try Self.adopt(Self.shop, in: folder, as: "shop")
        let audited = try ToolProcess.run(["sql", "SELECT count(*) FROM audit", "--format", "csv"], store: store).output
        let lines = [
            // The row that is referred to comes after the one that refers to it, in the same commit.
            #"{"tx":1,"op":"insert","table":"orders","id":"12","row":{"customer":42,"qty":7}}"#,
            #"{"tx":1,"op":"insert","table":"customers","id":"42","row":{"id":42,"name":"Cat","vip":true,"balance":1.5}}"#,
            #"{"tx":2,"op":"update","table":"customers","id":"42","row":{"name":"Cat","vip":false}}"#,
            #"{"tx":3,"op":"insert","table":"lines","id":"12,a%2Cb","row":{"ord":12,"sku":"a,b","extra":{"$blob":"AQI="}}}"#,
            #"{"tx":4,"op":"delete","table":"lines","id":"12,a%2Cb"}"#,
            // A history has what a foreign key has deleted as an operation of its own.
            #"{"tx":5,"op":"delete","table":"customers","id":"2"}"#,
            #"{"tx":5,"op":"delete","table":"orders","id":"11"}"#,
        ]
        let file = try Self.write(lines, in: folder, as: "ops.jsonl")
        let imported = try ToolProcess.run(["import", file], store: store)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(
            imported.output.contains("7 operations in 5 commits: 3 inserts, 1 update, 3 deletes"), "\(imported.output)")
        #expect(imported.output.contains("table customers: id INTEGER, name TEXT, vip BOOLEAN, balance REAL"))
        let rows = try ToolProcess.run(
            ["sql", "SELECT id, name, vip, balance, typeof(id) AS t FROM customers", "--format", "csv"], store: store)
        #expect(
            rows.output == "id,name,vip,balance,t\n1,Anna,true,5.5,integer\n42,Cat,false,,integer\n", "\(rows.output)")
        // Triggers don't run: their effects are in a history too.
        #expect(
            try ToolProcess.run(["sql", "SELECT count(*) FROM audit", "--format", "csv"], store: store).output
                == audited)
        try Self.expectSound(store, "shop")
        #expect(
            try Self.operations(of: store).suffix(7) == [
                #"commit "op":"insert","table":"orders","id":"12","row":{"id":12,"customer":42,"qty":7}}"#,
                #""op":"insert","table":"customers","id":"42","row":{"id":42,"name":"Cat","vip":true,"balance":1.5}}"#,
                #"commit "op":"update","table":"customers","id":"42","row":{"id":42,"name":"Cat","vip":false}}"#,
                #"commit "op":"insert","table":"lines","id":"12,a%2Cb","row":{"ord":12,"sku":"a,b","extra":{"$blob":"AQI="}}}"#,
                #"commit "op":"delete","table":"lines","id":"12,a%2Cb","row":null}"#,
                #"commit "op":"delete","table":"customers","id":"2","row":null}"#,
                #""op":"delete","table":"orders","id":"11","row":null}"#,
            ])
        // Triggers and foreign keys do what they did again, for whoever writes next.
        let written = try ToolProcess.run(
            ["exec", "INSERT INTO customers(id, name) VALUES (50, 'E'); DELETE FROM customers WHERE id = 42", "--yes"],
            store: store)
        #expect(written.output.contains("2 rows inserted"), "\(written.output)\(written.errors)")
        #expect(written.output.contains("2 rows deleted"), "\(written.output)")
    }

    /// A bad line, the byte that is named, and what is said.
    private static let badLines: [(line: String, byte: Int, problem: String)] = [
        (#"{"tx":1,"op":"insert","table":"orders","id":"13","row":{"customer":"1"}}"#, 58, #"would store "1" as 1"#),
        (
            #"{"tx":1,"op":"insert","table":"customers","id":"9","row":{"name":"X","balance":2}}"#, 71,
            "would store 2 as 2.0"
        ),
        (#"{"tx":1,"op":"insert","table":"customers","id":"9","row":{"name":7}}"#, 60, #"would store 7 as "7""#),
        (#"{"tx":1,"op":"insert","table":"customers","id":"9","row":{"vip":1}}"#, 60, "reads 1 as true"),
        (#"{"tx":1,"op":"insert","table":"orders","id":"13","row":{"qty":true}}"#, 58, "stores no true and false"),
        (#"{"tx":1,"op":"insert","table":"orders","id":"13","row":{"qty":3.0}}"#, 58, "would store 3.0 as 3"),
        (#"{"tx":1,"op":"insert","table":"orders","id":"13","row":{"qty":[1]}}"#, 58, "stores no arrays and objects"),
        (#"{"tx":1,"op":"insert","table":"customers","id":"9","row":{"nam":"X"}}"#, 60, "has no column nam"),
        (
            #"{"tx":1,"op":"insert","table":"customers","id":"9","row":{"name":null,"vip":true}}"#, 60,
            "NOT NULL constraint failed"
        ),
        (
            #"{"tx":1,"op":"insert","table":"customers","id":"9","row":{"name":"ANNA","vip":true}}"#, 60,
            "UNIQUE constraint failed"
        ),
        (
            #"{"tx":1,"op":"insert","table":"customers","id":"9","row":{"name":"X","vip":true,"balance":-1.0}}"#, 1,
            "CHECK constraint failed"
        ),
        (#"{"tx":1,"op":"insert","table":"customers","id":"1","row":{"name":"X","vip":true}}"#, 1, "is there already"),
        (#"{"tx":1,"op":"update","table":"customers","id":"9","row":{"name":"X","vip":true}}"#, 1, "is not there"),
        (#"{"tx":1,"op":"delete","table":"customers","id":"9"}"#, 1, "is not there"),
        (#"{"tx":1,"op":"delete","table":"customers","id":"01"}"#, 1, "is not there"),
        (
            #"{"tx":1,"op":"update","table":"customers","id":"1","row":{"id":2,"name":"X","vip":true}}"#, 60,
            "the row's key is 2"
        ),
        (#"{"tx":1,"op":"delete","table":"lines","id":"10"}"#, 1, "has 1 parts"),
        (#"{"tx":1,"op":"insert","table":"lines","id":"10,a","row":{"n":"x"}}"#, 59, "cannot store TEXT value"),
        (
            #"{"tx":1,"op":"insert","table":"orders","id":"13","row":{"customer":99}}"#, 1,
            #"refers to a row of "customers""#
        ),
        (#"{"tx":1,"op":"delete","table":"customers","id":"1"}"#, 1, #"rows of "orders" still refer"#),
    ]

    @Test("A value or row that a table can't hold is a bad line")
    func badLines() throws {
        let folder = try TemporaryFolder()
        let store = try Self.adopt(Self.shop, in: folder, as: "shop")
        let before = try Self.operations(of: store)
        for (line, byte, problem) in Self.badLines {
            // A good operation before it in the same commit isn't stored either.
            let good = #"{"tx":1,"op":"insert","table":"audit","id":"900","row":{"what":"w"}}"#
            let outcome = try ToolProcess.run(["import", "-"], store: store, input: "\(good)\n\(line)\n")
            #expect(outcome.status == 7, "\(line) \(outcome.output)")
            #expect(outcome.errors.contains("Line 2, byte \(byte): "), "\(line) \(outcome.errors)")
            #expect(outcome.errors.contains(problem), "\(line) \(outcome.errors)")
        }
        #expect(try Self.operations(of: store) == before)
        // All of them, each in a commit of its own, between good ones.
        var lines: [String] = []
        for (index, bad) in Self.badLines.enumerated() {
            lines.append(
                #"{"tx":\#(2 * index),"op":"insert","table":"audit","id":"\#(index + 100)","row":{"what":"w"}}"#)
            lines.append(bad.line.replacingOccurrences(of: #"{"tx":1,"#, with: "{\"tx\":\(2 * index + 1),"))
        }
        let file = try Self.write(lines, in: folder, as: "bad.jsonl")
        let skipped = try ToolProcess.run(["import", "--skip-invalid", file], store: store)
        #expect(skipped.status == 8, "\(skipped.errors)")
        let count = Self.badLines.count
        #expect(skipped.output.contains("\(count) operations in \(count) commits"), "\(skipped.output)")
        #expect(skipped.output.contains("\(count) lines left out, with \(count) commits"), "\(skipped.output)")
        #expect(try Self.operations(of: store).count == before.count + count)
        try Self.expectSound(store, "after bad lines")
    }

    @Test("Missing columns are added on request")
    func addingColumns() throws {
        let folder = try TemporaryFolder()
        let store = try Self.adopt(Self.shop, in: folder, as: "shop")
        let lines = [
            #"{"tx":1,"op":"update","table":"customers","id":"1","row":{"name":"Anna","vip":true,"phone":"1","age":3,"none":null}}"#,
            #"{"tx":2,"op":"update","table":"customers","id":"2","row":{"name":"Ben","vip":false,"age":"4"}}"#,
        ]
        let file = try Self.write(lines, in: folder, as: "ops.jsonl")
        let outcome = try ToolProcess.run(["import", "--add-columns", "--skip-invalid", file], store: store)
        #expect(outcome.status == 8, "\(outcome.errors)")
        #expect(outcome.output.contains("1 line left out"), "a text in the new INTEGER column: \(outcome.output)")
        let columns = try ToolProcess.run(["schema", "customers"], store: store).output
        #expect(columns.contains("phone"), "\(columns)")
        #expect(columns.contains("age"), "\(columns)")
        try Self.expectSound(store, "added columns")
        let last = try Self.operations(of: store).last ?? ""
        #expect(last.contains(#""row":{"id":1,"name":"Anna","vip":true,"phone":"1","age":3}"#), "\(last)")
    }

    // MARK: Random histories

    @Test("A history of hostile tables leads to the same tables and operations", arguments: testSeeds(2))
    func hostileHistory(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let engine = try StorageEngine.open(path: folder.path("one.sqlite"), configuration: StorageConfig())
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            for table in HostileTables.all { try writer.adopt(db, table.name, table.sql) }
            try db.execute(sql: HostileTables.triggers)
        }
        var generator = HostileStatements(seed: seed)
        for _ in 0..<60 {
            // Keys of that table that differ in their kind alone have one id, so a deletion would be ambiguous.
            let statements = generator.commit().filter { !$0.contains("tally") }
            // The schema may refuse it.
            _ = try? await engine.commit(CommitMetadata(actor: "anna")) { _, db in
                for statement in statements { try? db.execute(sql: statement) }
            }
        }
        try await engine.close()
        let plain = HostileTables.all.map { table in
            table.sql.replacing(/,\s*_position INT(EGER)? NOT NULL DEFAULT 0/, with: "")
        }
        let sql = plain.joined(separator: ";\n") + ";\n" + HostileTables.triggers
        let store = try Self.adopt(sql, in: folder, as: "two")
        let imported = try ToolProcess.shell(
            "storagekit export -s '\(folder.path("one.sqlite"))' | storagekit import -", store: store)
        #expect(imported.status == 0, "seed \(seed): \(imported.errors)")
        let operations = try Self.operations(of: folder.path("one.sqlite"))
        #expect(operations.count > 50, "seed \(seed)")
        #expect(try Self.operations(of: store) == operations, "seed \(seed)")
        for table in HostileTables.all {
            let list = table.columns.map { "quote(\($0))" }.joined(separator: " || ' ' || ")
            let rows = try ["one", "two"].map { name in
                try DatabaseQueue(path: folder.path("\(name).sqlite")).read {
                    try String.fetchSet($0, sql: "SELECT \(list) FROM \(table.name)")
                }
            }
            #expect(rows[0] == rows[1], "seed \(seed), \(table.name)")
        }
        try Self.expectSound(store, "seed \(seed)")
    }

    @Test("Random operations do what plain SQLite does with them", arguments: testSeeds(3))
    func randomOperations(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        var generator = TypedOperations(seed: seed)
        let sql = generator.schema()
        let store = try Self.adopt(sql.tables + sql.triggers, in: folder, as: "typed")
        let oracle = try PlainTables(sql.tables, at: folder.path("oracle.db"))
        var lines: [String] = []
        var refused = 0
        for tx in 1...150 {
            let commit = generator.commit(knowing: try oracle.keys())
            lines += commit.map { $0.line(tx) }
            if try !oracle.apply(commit) { refused += 1 }
        }
        let file = try Self.write(lines, in: folder, as: "ops.jsonl")
        let imported = try ToolProcess.run(["import", "--skip-invalid", file], store: store)
        #expect(imported.status == 8, "seed \(seed): \(imported.errors)")
        #expect(imported.output.contains("with \(refused) commits"), "seed \(seed): \(imported.output)")
        #expect(refused > 20, "seed \(seed): \(refused)")
        #expect(refused < 140, "seed \(seed): \(refused)")
        for table in ["parent", "child"] {
            let rows = try DatabaseQueue(path: store).read { try PlainTables.rows(of: table, $0) }
            #expect(try rows == oracle.rows(of: table), "seed \(seed), \(table)")
        }
        try Self.expectSound(store, "seed \(seed)")
        // What it exports does the same in another such store.
        let again = try Self.adopt(sql.tables + sql.triggers, in: folder, as: "again")
        let second = try ToolProcess.shell("storagekit export | storagekit import -s '\(again)' -", store: store)
        #expect(second.status == 0, "seed \(seed): \(second.errors)")
        #expect(try Self.operations(of: again) == Self.operations(of: store), "seed \(seed)")
    }
}
