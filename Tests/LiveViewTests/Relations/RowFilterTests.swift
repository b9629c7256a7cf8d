import CSQLite
import GRDB
import StorageTesting
import TestSupport
import Testing

@testable import StorageKit

/// Plain SQL runs again only for changes of its rows.
@Suite(.timeLimit(.minutes(10))) struct RowFilterTests {
    /// A table whose columns convert and compare values in every way.
    ///
    /// - Parameter key: The declaration of its key.
    private func open(key: String = "id INTEGER PRIMARY KEY") throws -> Storage {
        try StorageKit.inMemory { schema in
            schema.migration("things") {
                try $0.execute(
                    sql: """
                        CREATE TABLE things(
                            \(key), i INTEGER, t TEXT, n TEXT COLLATE NOCASE, r REAL, b BLOB, x NUMERIC,
                            "odd name" TEXT COLLATE RTRIM);
                        CREATE TABLE others(id INTEGER PRIMARY KEY, i INTEGER);
                        CREATE VIEW ones AS SELECT i FROM things WHERE x = 1;
                        """)
            }
            schema.adopt("things")
            schema.adopt("others")
        }.facade
    }

    private static let columns = ["i", "t", "n", "r", "b", "x", "odd name"]

    private static func value(_ generator: inout SplitMix64) -> DatabaseValue {
        switch generator.below(9) {
        case 0: .null
        case 1..<4: generator.below(4).databaseValue
        case 4: (Double(generator.below(8)) / 2).databaseValue
        case 5: "\(generator.below(4))".databaseValue
        case 6: generator.pick(["a b", "1.0", "0x1"]).databaseValue
        case 7: Data([UInt8](generator.pick(["a", "1"]).utf8)).databaseValue
        default: generator.pick(["a", "A", "a ", "b", "", "ä", "1 ", "01"]).databaseValue
        }
    }

    private static func statement(_ generator: inout SplitMix64) -> (sql: String, arguments: StatementArguments) {
        var values: [DatabaseValue] = []
        let isBound = generator.chance(50)
        func constant(_ generator: inout SplitMix64) -> String {
            while true {
                let value = value(&generator)
                guard !isBound else {
                    values.append(value)
                    return "?"
                }
                switch value.storage {
                case .int64(let number): return "\(number)"
                case .string(let text): return "'\(text)'"
                default: continue
                }
            }
        }
        var terms: [String] = []
        for _ in 0...generator.below(2) {
            let column = "\"\(generator.pick(columns))\""
            switch generator.below(8) {
            case 0: terms.append("\(column) IS \(generator.chance(50) ? "NOT " : "")NULL")
            case 1: terms.append("\(column) IN (\(constant(&generator)), \(constant(&generator)))")
            case 2: terms.append("\(column) BETWEEN \(constant(&generator)) AND \(constant(&generator))")
            default:
                let comparison = generator.pick(["=", "==", "<>", "!=", "<", "<=", ">", ">=", "="])
                terms.append("\(column) \(comparison) \(constant(&generator))")
            }
        }
        let condition = terms.joined(separator: " AND ")
        let sql =
            generator.chance(50)
            ? "SELECT count(*) || ':' || total(id) || ':' || ifnull(group_concat(t || quote(x), ','), '') FROM things WHERE \(condition)"
            : "SELECT group_concat(id) FROM things AS th WHERE \(condition) LIMIT 1"
        return (sql, StatementArguments(values))
    }

    private func change(_ storage: Storage, _ generator: inout SplitMix64) async throws {
        let seed = generator.next()
        try await storage.write { tx in
            var generator = SplitMix64(seed: seed)
            for _ in 0...generator.below(2) {
                let id = generator.below(12)
                switch generator.below(6) {
                case 0: try tx.execute("DELETE FROM things WHERE id = \(id)")
                case 5:
                    // As it was, but for its rowid.
                    try tx.execute(
                        """
                        INSERT OR REPLACE INTO things(id, i, t, n, r, b, x, "odd name")
                        SELECT id, i, t, n, r, b, x, "odd name" FROM things WHERE id = \(id)
                        """)
                case 1, 2:
                    let column = generator.pick(Self.columns)
                    try tx.database.execute(
                        sql: "UPDATE things SET \"\(column)\" = ? WHERE id = ?",
                        arguments: [Self.value(&generator), id])
                default:
                    let values = Self.columns.map { _ in Self.value(&generator) }
                    try tx.database.execute(
                        sql: """
                            INSERT OR REPLACE INTO things(id, i, t, n, r, b, x, "odd name")
                            VALUES (\(id), ?, ?, ?, ?, ?, ?, ?)
                            """,
                        arguments: StatementArguments(values))
                }
            }
        }
    }

    @Test("Where changes don't concern a random statement, it finds what it found before", arguments: testSeeds(6))
    func unconcernedStatements(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let storage = try open(key: generator.chance(50) ? "id INTEGER PRIMARY KEY" : "id TEXT NOT NULL PRIMARY KEY")
        for _ in 0..<20 { try await change(storage, &generator) }
        var (spared, run) = (0, 0)
        for _ in 0..<40 {
            let (sql, arguments) = Self.statement(&generator)
            let (before, region, position) = try await storage.read { db in
                let (value, region) = try TrackedRegion.reading(db) {
                    try String.fetchOne($0, sql: sql, arguments: arguments)
                }
                return (value, region, storage.head)
            }
            for _ in 0...generator.below(3) { try await change(storage, &generator) }
            let (after, isConcerned) = try await storage.read { db in
                let head = storage.head
                return (
                    try String.fetchOne(db, sql: sql, arguments: arguments),
                    try head > position && region.isConcerned(by: position + 1...head, db)
                )
            }
            if isConcerned { run += 1 } else { spared += 1 }
            if before != after {
                #expect(isConcerned, "STORAGEKIT_SEED=\(seed) \(sql) \(arguments): \(before ?? "") \(after ?? "")")
            }
        }
        #expect(spared > 0)
        #expect(run > 0)
    }

    /// GRDB binds texts up to the first NUL, others bind them whole.
    @Test(
        "A bound text with a NUL isn't taken for its beginning",
        arguments: ["< ?", "<> ?", "BETWEEN 'a' AND ?"])
    func boundNUL(test: String) async throws {
        let storage = try open()
        let sql = "SELECT count(*) FROM things WHERE t \(test)"
        let count: @Sendable (Database) throws -> Int? = { db in
            let statement = try db.makeStatement(sql: sql)
            statement.setUncheckedArguments(StatementArguments())
            // SQLITE_TRANSIENT: SQLite copies the text.
            let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            sqlite3_bind_text(statement.sqliteStatement, 1, "a\0b", 3, copies)
            return try Int.fetchOne(statement)
        }
        var changes = 0
        for value in ["'a'", "'c'", "'a'"] {
            let (before, region) = try await storage.read { try TrackedRegion.reading($0, count) }
            let position = storage.head
            try await storage.write { try $0.execute("INSERT OR REPLACE INTO things(id, t) VALUES (1, \(value))") }
            let head = storage.head
            let (after, isConcerned) = try await storage.read { db in
                (try count(db), try region.isConcerned(by: position + 1...head, db))
            }
            if before != after { changes += 1 }
            #expect(before == after || isConcerned, "\(sql), \(value)")
        }
        #expect(changes > 0)
    }

    @Test("A statement runs for changes of its rows, and for no others")
    func runs() async throws {
        let storage = try open()
        let count = Counter()
        let live = storage.liveValue { db in
            count.add()
            return try Int.fetchOne(
                db, sql: "SELECT sum(i) FROM things WHERE t = ? AND i >= 10", arguments: ["a"])
        }
        var values = live.snapshots.makeAsyncIterator()
        #expect(try await values.next() == .some(nil))
        try await storage.write { try $0.execute("INSERT INTO things(id, i, t) VALUES (1, 9, 'a'), (2, 50, 'b')") }
        try await storage.write { try $0.execute("UPDATE things SET i = i - 1, x = 7") }
        try await storage.write { try $0.execute("INSERT INTO things(id, i, t) VALUES (3, 20, 'a')") }
        #expect(try await values.next() == 20)
        try await storage.write { try $0.execute("DELETE FROM things WHERE id = 2") }
        // A column that isn't read of a row that is.
        try await storage.write { try $0.execute("UPDATE things SET x = 1 WHERE id = 3") }
        try await storage.write { try $0.execute("UPDATE things SET i = 10 WHERE id = 1") }
        #expect(try await values.next() == 30)
        #expect(count.value == 3)
        let explanation = try #require(await live.explain())
        #expect(explanation.rowCondition == "t = 'a' AND i >= 10")
        #expect(explanation.anchors == ["things.i", "things.t"])
    }

    @Test(
        "Only plain statements are understood",
        arguments: [
            ("SELECT id FROM things WHERE i = 1", "i = 1"),
            (
                "select th.id from Things as th where TH.I<-3 and \"odd name\" = 'it''s' order by i limit 3;",
                "I < -3 AND odd name = 'it''s'"
            ),
            ("SELECT id FROM things WHERE i = 1 OR i = 2", nil),
            ("SELECT id FROM things WHERE i = 1.5", nil),
            ("SELECT id FROM things WHERE i = 1 + 1", nil),
            ("SELECT id FROM things WHERE t = 'a' COLLATE NOCASE", nil),
            ("SELECT id FROM things WHERE +i = 1", nil),
            ("SELECT id FROM things WHERE i = x", nil),
            ("SELECT id FROM things WHERE i = NULL", nil),
            ("SELECT id FROM things WHERE i NOT IN (1)", nil),
            ("SELECT id FROM things WHERE i = 0x10", nil),
            ("SELECT id FROM things WHERE i = 99999999999999999999", nil),
            ("SELECT id FROM things WHERE rowid = 1", nil),
            ("SELECT id FROM things WHERE i = 1 ORDER BY oid", nil),
            ("SELECT * FROM things WHERE i = 1", nil),
            ("SELECT id FROM things WHERE i = 1 ORDER BY _position DESC", nil),
            ("SELECT id, 7 IN ones FROM things WHERE i = 1", nil),
            ("SELECT id FROM things WHERE current_date = 1", nil),
            ("SELECT id FROM things -- WHERE i = 1\n WHERE x = 2", nil),
            ("SELECT id FROM things WHERE i = (SELECT max(id) FROM others)", nil),
            ("SELECT id, i IN (SELECT id FROM others) FROM things WHERE i = 1", nil),
            ("SELECT id FROM things WHERE i = 1 UNION SELECT id FROM others", nil),
            ("SELECT things.id FROM things, others WHERE things.i = 1", nil),
            ("SELECT things.id FROM things JOIN others USING (id) WHERE things.i = 1", nil),
            ("SELECT id FROM things", nil),
        ] as [(String, String?)])
    func understood(sql: String, condition: String?) async throws {
        let storage = try open()
        let live = storage.liveValue { try GRDB.Row.fetchAll($0, sql: sql).count }
        #expect(try await live.explain()?.rowCondition == condition)
    }

    @Test("A closure of several statements has no condition")
    func severalStatements() async throws {
        let storage = try open()
        let live = storage.liveValue { db in
            try (1...2).map { try Int.fetchOne(db, sql: "SELECT id FROM things WHERE i = ?", arguments: [$0]) }
        }
        #expect(try await live.explain()?.rowCondition == nil)
    }
}
