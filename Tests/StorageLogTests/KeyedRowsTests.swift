import Foundation
import GRDB
import StorageCore
import StorageMaintenance
import TestSupport
import Testing

@testable import StorageHistory
@testable import StorageLog

/// A few rows of a large table are read by their keys as they were long ago, and the table isn't made.
@Suite struct KeyedRowsTests {
    private static let tables = [
        LargeTable(
            name: "texts", columns: "id TEXT PRIMARY KEY, n INT, t, m DEFAULT 5", values: "printf('k%05d', i), i, NULL",
            rename: "id = id || 'x'", firstKey: { .text("k" + String("\(100_000 + $0)".dropFirst())) }),
        LargeTable(
            name: "numbers", columns: "id INTEGER PRIMARY KEY, n INT UNIQUE, t, m INT", values: "i * 3, i, 'b' || i",
            rename: "id = id + 1", firstKey: { .integer(Int64($0 * 3)) }),
        LargeTable(
            name: "reals", columns: "id REAL PRIMARY KEY, n INT, t, m", values: "i / 2.0, i, i / 4.0",
            rename: "id = id + 0.25", firstKey: { .real(Double($0) / 2) }),
        LargeTable(
            name: "anys", columns: "id PRIMARY KEY, n INT, t, m TEXT COLLATE NOCASE",
            values: "CASE i % 3 WHEN 0 THEN i WHEN 1 THEN i + 0.0 ELSE 'k' || i END, i, x'00'",
            rename: "id = CASE typeof(id) WHEN 'integer' THEN id + 0.0 ELSE CAST(id AS INTEGER) END",
            firstKey: { $0 % 3 == 2 ? .text("k\($0)") : .integer(Int64($0)) }),
        LargeTable(
            name: "pairs", columns: "a TEXT, b INT, n INT, t, m", key: ", PRIMARY KEY (a, b DESC)",
            filled: "a, b, n, t", values: "printf('k%05d', i / 3), i, i, 'p'", rename: "b = b + 10000",
            firstKey: { .text("k" + String("\(100_000 + $0 / 3)".dropFirst())) }),
        LargeTable(
            name: "folded", columns: "id TEXT PRIMARY KEY COLLATE NOCASE, n INT, t, m", values: "'k' || i, i, NULL",
            rename: "id = upper(id)", firstKey: { .text("K\($0)") }),
    ]
    private static let rows = 5_500

    private static func open(_ folder: TemporaryFolder, _ tables: [LargeTable]) async throws -> StorageEngine {
        let engine = try await LargeTable.open(folder, tables, rows: rows)
        try await engine.adopt(
            "others", "CREATE TABLE others(id INTEGER PRIMARY KEY, _position INT NOT NULL DEFAULT 0)")
        return engine
    }

    /// So that all points before are old ones.
    private static func passTime(_ engine: StorageEngine) async throws {
        try await engine.commit(
            """
            WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 1100)
            INSERT INTO others(id) SELECT i FROM c
            """)
    }

    private static func change(_ table: LargeTable, _ random: inout SplitMix64, in engine: StorageEngine) async throws {
        let first = 1 + random.below(40)
        let range = "n BETWEEN \(first) AND \(first + 4)"
        switch random.below(8) {
        case 0: try await engine.commit("DELETE FROM \(table.name) WHERE \(range)")
        case 1: try await engine.commit(table.insertion(first...first + 3))
        case 2: try await engine.commit("UPDATE OR IGNORE \(table.name) SET \(table.rename) WHERE \(range)")
        case 3: try await engine.commit("UPDATE \(table.name) SET t = iif(n % 3, n / 8.0, NULL) WHERE \(range)")
        case 4: try await engine.commit("UPDATE OR IGNORE \(table.name) SET n = n + 100000 WHERE \(range)")
        case 5: try await engine.commit(table.insertion(first...first + 1, or: "REPLACE"))
        case 6: try await engine.commit(table.restoration(of: first))
        default: try await engine.commit("UPDATE OR IGNORE \(table.name) SET n = n - 100000 WHERE n > 100000")
        }
    }

    /// A condition that restricts the key to few rows.
    private static func condition(_ table: LargeTable, _ random: inout SplitMix64) -> RowPredicate {
        let isPair = !table.key.isEmpty
        let column = isPair ? "a" : "id"
        let low = random.below(45)
        let (lower, upper) = (table.firstKey(low), table.firstKey(low + random.below(12)))
        func compare(_ comparison: RowPredicate.Comparison, _ value: StorageValue) -> RowPredicate {
            .comparison(column: column, comparison, .value(value))
        }
        let condition: RowPredicate =
            switch random.below(8) {
            case 0: compare(.equal, lower)
            case 1: .among(column: column, [upper, table.firstKey(3), table.firstKey(60_000), lower, upper])
            case 2: .between(column: column, lower, upper)
            case 3: compare(.greaterOrEqual, lower) && compare(.less, upper)
            case 4: compare(.lessOrEqual, lower) && .comparison(column: "n", .less, .value(100_000))
            case 5: compare(.greater, table.firstKey(rows - 10)) && .isNull(column: "t")
            case 6: compare(.same, upper) || .between(column: column, lower, upper)
            default: .between(column: column, lower, upper) && !compare(.equal, table.firstKey(low + 2))
            }
        guard isPair, random.chance(50) else { return condition }
        return condition && .between(column: "b", .integer(Int64(low)), .integer(Int64(low + random.below(4))))
    }

    private static func matches(
        _ condition: RowPredicate, of table: LargeTable, _ db: GRDB.Database
    ) throws -> [String] {
        let sql = try PredicateSQL(condition) { quoted($0) }
        return try table.rows(
            where: sql.text, arguments: StatementArguments(sql.values.map(\.databaseValue)), in: db)
    }

    private struct Answers {
        /// Without the table, if that is possible.
        let seen: [String]
        let copied: [String]
        /// Whether the first answer needed the table.
        let isMade: Bool
    }

    private static func answers(
        _ condition: RowPredicate, of table: LargeTable, at point: Int64, in db: GRDB.Database
    ) throws -> Answers {
        let snapshot = try MaterializedSnapshot(at: point, of: db, schema: .current)
        let seen = try snapshot.readRows(of: table.name, matching: condition, from: db) {
            try matches(condition, of: table, $0)
        }
        let isMade = try snapshot.read(from: db) { past in try past.tableExists(table.name) }
        let copied = try snapshot.read([table.name], from: db) { try matches(condition, of: table, $0) }
        return Answers(seen: seen, copied: copied, isMade: isMade)
    }

    @Test("Rows that are found by their keys are those of the table", arguments: testSeeds(2))
    func agreesWithTables(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let engine = try await Self.open(folder, Self.tables)
        var tables = Self.tables
        var random = SplitMix64(seed: seed)
        var points = [engine.committed.position]
        for round in 0..<90 {
            try await Self.change(tables[random.below(tables.count)], &random, in: engine)
            for index in tables.indices where round == 20 {
                try await engine.commit("ALTER TABLE \(tables[index].name) ADD COLUMN added INT DEFAULT 7")
                try await engine.commit("ALTER TABLE \(tables[index].name) RENAME COLUMN m TO renamed")
            }
            for index in tables.indices where round == 50 {
                try await engine.commit(tables[index].renaming(to: tables[index].name + "_renamed"))
            }
            points.append(engine.committed.position)
        }
        try await Self.passTime(engine)
        var unmade: Set<String> = []
        for _ in 0..<40 {
            let table = tables[random.below(tables.count)]
            let condition = Self.condition(table, &random)
            let point = points[random.below(points.count)]
            let answers = try await engine.read { db in try Self.answers(condition, of: table, at: point, in: db) }
            #expect(answers.seen == answers.copied, "seed \(seed), \(table.name) @\(point), \(condition)")
            if !answers.isMade { unmade.insert(table.name) }
        }
        #expect(unmade.count > 3, "\(unmade)")
        #expect(!unmade.contains("folded_renamed"))
        try await engine.close()
    }

    /// It can't be attached, so that there is no view over the live table, however recent the point is.
    @Test("A store in memory is read by keys, too", arguments: testSeeds(2))
    func storeInMemory(seed: UInt64) async throws {
        let tables = [Self.tables[1], Self.tables[4]]
        let engine = try TestStore.inMemory()
        for table in tables { try await table.create(rows: Self.rows, in: engine) }
        var random = SplitMix64(seed: seed)
        var points = [engine.committed.position]
        for _ in 0..<30 {
            try await Self.change(tables[random.below(tables.count)], &random, in: engine)
            points.append(engine.committed.position)
        }
        var unmade: Set<String> = []
        for _ in 0..<20 {
            let table = tables[random.below(tables.count)]
            let condition = Self.condition(table, &random)
            let point = points[random.below(points.count)]
            let answers = try await engine.read { db in try Self.answers(condition, of: table, at: point, in: db) }
            #expect(answers.seen == answers.copied, "seed \(seed), \(table.name) @\(point), \(condition)")
            if !answers.isMade { unmade.insert(table.name) }
        }
        #expect(unmade.count == tables.count, "\(unmade)")
        try await engine.close()
    }

    @Test("The rows of a table that got another name are found, and the table isn't made")
    func renamedTable() async throws {
        let folder = try TemporaryFolder()
        var table = Self.tables[0]
        let engine = try await Self.open(folder, [table])
        let point = engine.committed.position
        try await engine.commit("DELETE FROM \(table.name) WHERE n = 12")
        try await engine.commit(table.renaming(to: "later"))
        try await engine.commit("DELETE FROM \(table.name) WHERE n = 13")
        try await engine.commit("UPDATE \(table.name) SET t = 'later' WHERE n = 14")
        try await Self.passTime(engine)
        for condition in [
            .between(column: "id", table.firstKey(11), table.firstKey(15)),
            .among(column: "id", (11...15).map(table.firstKey)),
        ] as [RowPredicate] {
            let answers = try await engine.read { [table] db in
                try Self.answers(condition, of: table, at: point, in: db)
            }
            #expect(!answers.isMade, "\(condition)")
            #expect(answers.seen.count == 5, "\(condition)")
            #expect(answers.seen == answers.copied, "\(condition)")
        }
        try await engine.close()
    }

    @Test("Rows that were deleted, replaced or changed, keys included, are found, and the table isn't made")
    func withoutTable() async throws {
        let folder = try TemporaryFolder()
        let tables = Array(Self.tables.dropLast())
        let engine = try await Self.open(folder, tables)
        let point = engine.committed.position
        for table in tables {
            try await engine.commit("DELETE FROM \(table.name) WHERE n IN (12, 13)")
            try await engine.commit(table.insertion(13...13))
            try await engine.commit("UPDATE \(table.name) SET t = 'later' WHERE n BETWEEN 14 AND 16")
            for number in [17, 18] {
                try await engine.commit("UPDATE \(table.name) SET \(table.rename) WHERE n = \(number)")
            }
            try await engine.commit(table.restoration(of: 18))
            try await engine.commit(table.insertion(19...19, or: "REPLACE"))
            try await engine.commit(table.insertion(6_000...6_003))
        }
        try await Self.passTime(engine)
        for index in tables.indices {
            let column = tables[index].name == "pairs" ? "a" : "id"
            // Numbers come before texts.
            let isMixed = tables[index].name == "anys"
            let (first, last) = (tables[index].firstKey(isMixed ? 12 : 11), tables[index].firstKey(isMixed ? 16 : 20))
            let conditions: [RowPredicate] = [
                .between(column: column, first, last),
                .comparison(column: column, .equal, .value(tables[index].firstKey(12))),
                .among(column: column, (11...18).map(tables[index].firstKey)),
                .comparison(column: column, .equal, .value(tables[index].firstKey(6_001))),
            ]
            for condition in conditions {
                let answers = try await engine.read { db in
                    try Self.answers(condition, of: tables[index], at: point, in: db)
                }
                #expect(!answers.isMade, "\(condition)")
                #expect(answers.seen == answers.copied, "\(condition)")
                #expect(answers.seen.isEmpty == (condition == conditions[3]), "\(condition)")
            }
        }
        try await engine.close()
    }

    @Test("Many rows and conditions on other columns need the table")
    func withTable() async throws {
        let folder = try TemporaryFolder()
        let engine = try await Self.open(folder, Self.tables)
        let point = engine.committed.position
        for table in Self.tables { try await engine.commit("UPDATE \(table.name) SET t = 1 WHERE n < 40") }
        try await engine.commit("DELETE FROM numbers WHERE n BETWEEN 200 AND 240")
        for number in 0..<1_001 { try await engine.commit("UPDATE numbers SET t = \(number) WHERE n = 100") }
        try await Self.passTime(engine)
        func between(_ lower: Int, _ upper: Int) -> RowPredicate {
            .between(column: "id", Self.tables[1].firstKey(lower), Self.tables[1].firstKey(upper))
        }
        let few = between(1, 20)
        let second = RowPredicate.comparison(column: "b", .equal, .value(5))
        let conditions: [(table: Int, condition: RowPredicate, isMade: Bool)] = [
            (1, few, false),
            // More rows would be reconstructed, or copied, than are worth it.
            (1, between(1, 39), true),
            (1, between(200, 240), true),
            (1, between(205, 215), false),
            (1, .comparison(column: "id", .equal, .value(Self.tables[1].firstKey(100))), true),
            (1, between(241, 3_000), false),
            (1, .comparison(column: "id", .greater, .value(Self.tables[1].firstKey(1_000))), true),
            (1, .comparison(column: "id", .different, .value(Self.tables[1].firstKey(1))), true),
            (1, .comparison(column: "n", .equal, .value(5)), true),
            (1, few || .comparison(column: "n", .equal, .value(5)), true),
            (1, few && .comparison(column: "n", .equal, .value(5)), false),
            (5, .comparison(column: "id", .equal, .value(Self.tables[5].firstKey(5))), true),
            (0, .comparison(column: "id", .equal, .value(Self.tables[0].firstKey(5)), collation: .noCase), true),
            (4, .comparison(column: "a", .equal, .value(Self.tables[4].firstKey(5))), false),
            (4, .comparison(column: "a", .equal, .value(Self.tables[4].firstKey(5))) && second, false),
            (4, second, true),
        ]
        for (table, condition, isMade) in conditions {
            let answers = try await engine.read { db in
                try Self.answers(condition, of: Self.tables[table], at: point, in: db)
            }
            #expect(answers.isMade == isMade, "\(condition)")
            #expect(answers.seen == answers.copied, "\(condition)")
        }
        try await engine.close()
    }

    @Test("After a number of reads by keys, the table is made")
    func manyReads() async throws {
        let folder = try TemporaryFolder()
        let table = Self.tables[1]
        let engine = try await Self.open(folder, [table])
        let point = engine.committed.position
        try await Self.passTime(engine)
        let limit = MaterializedSnapshot.maximumKeyedReads
        let reads = try await engine.read { db in
            let snapshot = try MaterializedSnapshot(at: point, of: db, schema: .current)
            return try (1...limit + 2).map { number in
                let condition = RowPredicate.comparison(column: "id", .equal, .value(table.firstKey(number)))
                let rows = try snapshot.readRows(of: table.name, matching: condition, from: db) {
                    try Self.matches(condition, of: table, $0)
                }
                return (rows: rows.count, isMade: try snapshot.read(from: db) { try $0.tableExists(table.name) })
            }
        }
        #expect(reads.allSatisfy { $0.rows == 1 })
        #expect(reads.map(\.isMade) == Array(repeating: false, count: limit) + [true, true])
        try await engine.close()
    }

    @Test("A deleted row is found by each number that is equal to its key", arguments: ["0", "0.0", "-0.0"])
    func zeros(key: String) async throws {
        let folder = try TemporaryFolder()
        let table = Self.tables[3]
        let engine = try await Self.open(folder, [table])
        try await engine.commit("INSERT INTO anys(id, n) VALUES (\(key), 9000)")
        let point = engine.committed.position
        try await engine.commit("DELETE FROM anys WHERE n = 9000")
        try await Self.passTime(engine)
        for zero in [StorageValue.integer(0), .real(0), .real(-0.0)] {
            let conditions: [RowPredicate] = [
                .comparison(column: "id", .equal, .value(zero)), .among(column: "id", [.integer(-1), zero]),
                .between(column: "id", .integer(-1), zero),
            ]
            for condition in conditions {
                let answers = try await engine.read { db in
                    try Self.answers(condition, of: table, at: point, in: db)
                }
                #expect(!answers.isMade, "\(condition)")
                #expect(answers.seen.count == 1, "\(condition)")
                #expect(answers.seen == answers.copied, "\(condition)")
            }
        }
        try await engine.close()
    }

    @Test("A row is found by each value that its column makes equal to its key")
    func equalValues() async throws {
        let folder = try TemporaryFolder()
        let tables = [Self.tables[1], Self.tables[2], Self.tables[3]]
        let engine = try await Self.open(folder, tables)
        let point = engine.committed.position
        for table in tables {
            try await engine.commit("DELETE FROM \(table.name) WHERE n = 12")
            try await engine.commit("UPDATE \(table.name) SET t = 'later' WHERE n = 18")
        }
        try await Self.passTime(engine)
        let values: [(table: Int, values: [StorageValue])] = [
            (0, [.text("36"), .real(36), .text("54.0")]),
            (1, [.text("6"), .integer(6), .text("9.0")]),
            (2, [.real(12), .real(18)]),
        ]
        for (table, value) in values.flatMap({ entry in entry.values.map { (tables[entry.table], $0) } }) {
            for condition in [
                .comparison(column: "id", .equal, .value(value)), .among(column: "id", [.integer(-1), value]),
            ] as [RowPredicate] {
                let answers = try await engine.read { db in try Self.answers(condition, of: table, at: point, in: db) }
                #expect(!answers.isMade, "\(table.name), \(condition)")
                #expect(answers.seen.count == 1, "\(table.name), \(condition)")
                #expect(answers.seen == answers.copied, "\(table.name), \(condition)")
            }
        }
        try await engine.close()
    }

    @Test("What another program wrote is shown as the table has it")
    func foreignWrites() async throws {
        let folder = try TemporaryFolder()
        let tables = Array(Self.tables.dropLast())
        let engine = try await Self.open(folder, tables)
        let point = engine.committed.position
        for table in tables { try await engine.commit("UPDATE \(table.name) SET t = 'later' WHERE n = 13") }
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { db in
            for table in tables {
                try db.execute(sql: "UPDATE \(table.name) SET t = 'foreign' WHERE n IN (12, 13, 2000)")
                try db.execute(sql: "DELETE FROM \(table.name) WHERE n IN (14, 15)")
                try db.execute(sql: "UPDATE \(table.name) SET \(table.rename) WHERE n IN (18, 4000)")
                try db.execute(sql: table.insertion(7_000...7_000))
            }
        }
        try foreign.close()
        // The events say nothing of a row that was deleted and inserted again.
        for table in tables { try await engine.commit(table.insertion(15...15)) }
        try await Self.passTime(engine)
        for index in tables.indices {
            let column = tables[index].name == "pairs" ? "a" : "id"
            for number in [12, 13, 14, 15, 18, 2_000, 4_000, 7_000] {
                let condition = RowPredicate.comparison(column: column, .equal, .value(tables[index].firstKey(number)))
                let answers = try await engine.read { db in
                    try Self.answers(condition, of: tables[index], at: point, in: db)
                }
                #expect(answers.seen == answers.copied, "\(tables[index].name), row \(number)")
            }
        }
        try await engine.close()
    }

    @Test("A row that another program has inserted again is shown as it was before its delete")
    func foreignInserts() async throws {
        let folder = try TemporaryFolder()
        let tables = Array(Self.tables.dropLast())
        let engine = try await Self.open(folder, tables)
        let point = engine.committed.position
        let condition = RowPredicate.comparison(column: "n", .equal, .value(12))
        let before = try await engine.read { db in try tables.map { try Self.matches(condition, of: $0, db) } }
        for table in tables { try await engine.commit("DELETE FROM \(table.name) WHERE n = 12") }
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { db in
            for table in tables {
                try db.execute(sql: table.insertion(12...12))
                try db.execute(sql: "UPDATE \(table.name) SET t = 'foreign' WHERE n = 12")
            }
        }
        try foreign.close()
        let head = engine.committed.position
        for from in [point, head] {
            let (isMovedBack, isMovedForward) = try await engine.read { db in
                let snapshot = try MaterializedSnapshot(at: from, of: db, schema: .current)
                try snapshot.prepare(tables: tables.map(\.name), from: db)
                return (try snapshot.move(to: point, from: db), try snapshot.move(to: head, from: db))
            }
            #expect(isMovedBack)
            // That couldn't restore what the other program wrote.
            #expect(!isMovedForward, "from @\(from)")
        }
        for isOld in [false, true] {
            if isOld { try await Self.passTime(engine) }
            for index in tables.indices {
                let column = tables[index].name == "pairs" ? "a" : "id"
                let key = RowPredicate.comparison(column: column, .equal, .value(tables[index].firstKey(12)))
                let answers = try await engine.read { db in
                    try Self.answers(key && condition, of: tables[index], at: point, in: db)
                }
                #expect(answers.seen == before[index], "\(tables[index].name), old: \(isOld)")
                #expect(answers.copied == before[index], "\(tables[index].name), old: \(isOld)")
            }
        }
        try await engine.close()
    }
}
