import GRDB
import SchemaTestSupport
import StorageCore
import StorageHistory
import TestSupport
import Testing

@testable import StorageLog

/// Statements for a difference give the tables of the other state, whatever happened to columns, indexes and names.
@Suite struct DifferenceStatementsTests {
    @Test("Random changes of tables", arguments: TestSettings.seeds(4, from: 12_000))
    func randomChanges(seed: UInt64) async throws {
        var changes = TableChanges(seed: seed)
        let engine = try TestStore.inMemory()
        var states = [try await NetDifferenceTests.state(engine)]
        for _ in 0..<40 {
            _ = try await engine.commit(changes.commit(), CommitMetadata())
            states.append(try await NetDifferenceTests.state(engine))
        }
        var random = SplitMix64(seed: seed)
        for _ in 0..<40 {
            try await Self.expectStatements(engine, random.pick(states), random.pick(states), "seed \(seed)")
        }
    }

    @Test(
        "Changes of one commit",
        arguments: [
            "ALTER TABLE t RENAME a TO x; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME x TO b",
            "ALTER TABLE t RENAME c TO x; ALTER TABLE t RENAME b TO c; ALTER TABLE t RENAME a TO b",
            """
            ALTER TABLE t RENAME a TO x; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME c TO b;
            ALTER TABLE t RENAME x TO c
            """,
            "ALTER TABLE t RENAME TO x; ALTER TABLE u RENAME TO t; ALTER TABLE x RENAME TO u",
            "ALTER TABLE t RENAME TO x; ALTER TABLE u RENAME TO t; UPDATE t SET a = 'other'",
            "ALTER TABLE t RENAME TO x; ALTER TABLE x RENAME TO T",
            "DROP INDEX ta; ALTER TABLE t DROP COLUMN a",
            "DROP INDEX ta; ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN a; CREATE INDEX ta ON t(a)",
            "DROP INDEX ta; CREATE INDEX ta ON t(b); CREATE INDEX ub ON u(b)",
            "DROP TRIGGER tt; CREATE TRIGGER ut AFTER UPDATE ON u BEGIN SELECT new.b; END",
            "DROP TRIGGER tt; ALTER TABLE t DROP COLUMN b; ALTER TABLE t ADD COLUMN b",
            "ALTER TABLE t ADD COLUMN d TEXT COLLATE NOCASE DEFAULT 'x' CHECK (d <> 'fail')",
            "ALTER TABLE t ADD COLUMN d TEXT COLLATE swiftCompare CHECK (swiftLowercaseString(d) <> 'fail')",
            """
            ALTER TABLE t ADD COLUMN d INTEGER NOT NULL DEFAULT -1; ALTER TABLE t ADD COLUMN e REFERENCES u(k) ON DELETE CASCADE;
            ALTER TABLE t ADD COLUMN "f,"")" REAL DEFAULT 1e-300 /* last */
            """,
        ])
    func changesOfOneCommit(sql: String) async throws {
        let engine = try TestStore.inMemory()
        for name in ["t", "u"] {
            try await engine.adopt(
                name, "CREATE TABLE \(name)(k INTEGER PRIMARY KEY, a, b, c, _position INTEGER NOT NULL DEFAULT 0)")
            try await engine.commit("INSERT INTO \(name)(k, a, b, c) VALUES (1, '\(name)', 2, 3), (2, 'b', 3e-300, 1)")
        }
        try await engine.commit(
            "CREATE INDEX ta ON t(a); CREATE TRIGGER tt AFTER UPDATE ON t BEGIN SELECT new.b, k FROM u; END")
        let first = try await NetDifferenceTests.state(engine)
        try await engine.commit("INSERT INTO u(k, b) VALUES (3, 4); DELETE FROM u WHERE k = 1")
        try await engine.commit(sql)
        let last = try await NetDifferenceTests.state(engine)
        try await Self.expectStatements(engine, first, last, "forward")
        try await Self.expectStatements(engine, last, first, "back")
    }

    /// The rows have their new values only after the column was added.
    @Test(
        "An added column loses a CHECK that names others",
        arguments: ["CHECK (d > a)", #"CHECK (102 - "a" >= d)"#, "CHECK (t.d > 1 AND k < d)"])
    func checkOfOtherColumns(check: String) async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt("t", "CREATE TABLE t(k INTEGER PRIMARY KEY, a, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO t(k, a) VALUES (1, 200), (300, 1)")
        let first = try await NetDifferenceTests.state(engine)
        try await engine.commit("UPDATE t SET a = 2 WHERE k = 1; DELETE FROM t WHERE k = 300")
        try await engine.commit("ALTER TABLE t ADD COLUMN d INT DEFAULT 100 \(check)")
        let last = try await NetDifferenceTests.state(engine)
        try await Self.expectStatements(engine, first, last, "forward", keepsConstraints: false)
        try await Self.expectStatements(engine, last, first, "back")
    }

    /// - Parameter keepsConstraints: Whether added columns have the definitions of the second state.
    private static func expectStatements(
        _ engine: StorageEngine, _ from: NetDifferenceTests.State, _ to: NetDifferenceTests.State, _ name: String,
        keepsConstraints: Bool = true
    ) async throws {
        try await engine.withWriter { writer, _ in
            let difference = try NetDifference(
                writer.database, from: from.position, to: to.position, forStatements: true)
            var statements: [String] = []
            try DifferenceStatements(difference).forEach { statements.append($0) }
            let what = "\(name) @\(from.position)..@\(to.position): \(statements)"
            let (copy, other) = (try DatabaseQueue(), try DatabaseQueue())
            try other.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA foreign_keys = OFF")
                try NetDifferenceTests.fill(db, with: to)
            }
            try copy.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA foreign_keys = OFF")
                try NetDifferenceTests.fill(db, with: from)
                do {
                    for statement in statements { try db.execute(sql: statement) }
                } catch {
                    Issue.record("\(what): \(error)")
                    return
                }
                let rows = to.dump.filter { !CatalogEntity.isReserved($0.key) }.mapValues { $0.mapValues(\.cells) }
                #expect(try NetDifferenceTests.tables(db, like: to) == rows, "\(what)")
            }
            #expect(try copy.read(Self.columns) == other.read(Self.columns), "\(what)")
            #expect(try copy.read(Self.objects) == Set(to.catalog.live.flatMap(\.definitions.rest)), "\(what)")
            for entity in to.catalog.live where keepsConstraints {
                let sql = try copy.read {
                    try String.fetchOne(
                        $0, sql: "SELECT sql FROM sqlite_schema WHERE name = ?", arguments: [entity.stored])
                }
                let known = Set(from.catalog.live.flatMap(\.live).map(\.id))
                for column in entity.live where !known.contains(column.id) {
                    let wanted = TableSQL.definition(ofColumn: column.stored, in: entity.definitions.table)
                    #expect(TableSQL.definition(ofColumn: column.stored, in: sql ?? "") == wanted, "\(what)")
                }
            }
        }
    }

    private static func columns(_ db: GRDB.Database) throws -> Set<String> {
        try String.fetchSet(
            db,
            sql: """
                SELECT t.name || json_array(c.name, c.type, c."notnull", c.dflt_value, c.pk)
                FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'
                """)
    }

    private static func objects(_ db: GRDB.Database) throws -> Set<String> {
        try String.fetchSet(
            db, sql: "SELECT sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL")
    }
}

/// Makes up changes of tables that give names to others: of tables, columns and indexes.
private struct TableChanges {
    private var random: SplitMix64
    private var tables: [Table] = []

    private struct Table {
        var name: String
        var columns = ["a", "b"]
        /// The columns of the indexes, by their names.
        var indexes: [String: String] = [:]
    }

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func commit() -> [HistoryGenerator.Step] {
        var steps: [HistoryGenerator.Step] = []
        if tables.count < 2 || random.chance(10), let name = freeTable() {
            tables.append(Table(name: name))
            let columns = "k INTEGER PRIMARY KEY, a TEXT, b, _position INTEGER NOT NULL DEFAULT 0"
            steps.append(.table(name: name, sql: "CREATE TABLE \(name)(\(columns))"))
        }
        for _ in 0...random.below(3) { steps += change(random.below(tables.count)).map { .sql($0) } }
        return steps
    }

    private mutating func change(_ index: Int) -> [String] {
        let table = tables[index]
        switch random.below(12) {
        case 0: return addColumn(index)
        case 1: return dropColumn(index)
        case 2:
            guard let name = freeColumn(table), let column = table.columns.first else { return [] }
            return rename([(column, name)], in: index)
        case 3:
            guard table.columns.count > 1 else { return [] }
            return rename(Array(zip(table.columns, table.columns.dropFirst() + [table.columns[0]])), in: index)
        case 4:
            guard let name = freeTable() else { return [] }
            tables[index].name = name
            return ["ALTER TABLE \(table.name) RENAME TO \(name)"]
        case 5:
            let other = random.below(tables.count)
            guard other != index else { return [] }
            (tables[index].name, tables[other].name) = (tables[other].name, table.name)
            return [
                "ALTER TABLE \(table.name) RENAME TO aside",
                "ALTER TABLE \(tables[index].name) RENAME TO \(table.name)",
                "ALTER TABLE aside RENAME TO \(tables[index].name)",
            ]
        case 6:
            guard tables.count > 2 else { return [] }
            tables.remove(at: index)
            return ["DROP TABLE \(table.name)"]
        case 7: return changeIndex(index)
        case 8: return ["DELETE FROM \(table.name) WHERE k = \(random.below(6))"]
        case 9:
            guard !table.columns.isEmpty else { return [] }
            return ["UPDATE \(table.name) SET \(random.pick(table.columns)) = \(value()) WHERE k > \(random.below(6))"]
        default:
            let names = (["k"] + table.columns).joined(separator: ", ")
            let values = (["\(random.below(6))"] + table.columns.map { _ in value() }).joined(separator: ", ")
            return ["INSERT OR REPLACE INTO \(table.name)(\(names)) VALUES (\(values))"]
        }
    }

    private mutating func value() -> String {
        random.pick(["1", "2.5", "'a'", "'007'", "x'00'", "5e-324", "-1.2915e-12"])
    }

    private mutating func freeTable() -> String? {
        let free = ["t", "u", "v", "w"].filter { name in !tables.contains { $0.name == name } }
        return free.isEmpty ? nil : random.pick(free)
    }

    private mutating func freeColumn(_ table: Table) -> String? {
        let free = ["a", "b", "c", "d"].filter { !table.columns.contains($0) }
        return free.isEmpty ? nil : random.pick(free)
    }

    private mutating func addColumn(_ index: Int) -> [String] {
        guard let name = freeColumn(tables[index]) else { return [] }
        tables[index].columns.append(name)
        let definition = random.pick([
            "", "INTEGER NOT NULL DEFAULT 7", "TEXT COLLATE NOCASE DEFAULT 'x' CHECK (\(name) <> 'fail')",
            "REAL DEFAULT -1e-300", "NUMERIC DEFAULT (1)",
        ])
        return ["ALTER TABLE \(tables[index].name) ADD COLUMN \(name) \(definition)"]
    }

    private mutating func dropColumn(_ index: Int) -> [String] {
        guard !tables[index].columns.isEmpty else { return [] }
        let column = tables[index].columns.remove(at: random.below(tables[index].columns.count))
        let indexes = tables[index].indexes.filter { $0.value == column }.keys.sorted()
        for name in indexes { tables[index].indexes[name] = nil }
        return indexes.map { "DROP INDEX \($0)" } + ["ALTER TABLE \(tables[index].name) DROP COLUMN \(column)"]
    }

    /// Renames columns along a chain or a cycle.
    private mutating func rename(_ names: [(String, String)], in index: Int) -> [String] {
        let table = tables[index]
        let new = Dictionary(uniqueKeysWithValues: names)
        tables[index].columns = table.columns.map { new[$0] ?? $0 }
        tables[index].indexes = table.indexes.mapValues { new[$0] ?? $0 }
        return names.map { "ALTER TABLE \(table.name) RENAME COLUMN \($0.0) TO aside_\($0.0)" }
            + names.map { "ALTER TABLE \(table.name) RENAME COLUMN aside_\($0.0) TO \($0.1)" }
    }

    private mutating func changeIndex(_ index: Int) -> [String] {
        if let name = tables[index].indexes.keys.min() {
            tables[index].indexes[name] = nil
            return ["DROP INDEX \(name)"]
        }
        let free = ["i", "j", "l"].filter { name in !tables.contains { $0.indexes[name] != nil } }
        guard !free.isEmpty, !tables[index].columns.isEmpty else { return [] }
        let (name, column) = (random.pick(free), random.pick(tables[index].columns))
        tables[index].indexes[name] = column
        return ["CREATE INDEX \(name) ON \(tables[index].name)(\(column))"]
    }
}
