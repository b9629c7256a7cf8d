import CSQLite
import GRDB
import SchemaTestSupport
import StorageCore
import StorageHistory
import TestSupport
import Testing

@testable import StorageLog

/// The net difference between two points leads from the one state to the other, whatever happened to rows, columns and
/// tables in between.
@Suite struct NetDifferenceTests {
    /// The store after one commit.
    struct State {
        let position: Int64
        let catalog: Catalog
        let dump: StoreDump
    }

    /// Rows as a reader of differences sees them: by name, NULL being nothing.
    private typealias Rows = [String: [[Cell]: [String: Cell]]]

    @Test("Applied to one state it gives the other", arguments: TestSettings.seeds(3, from: 5_000))
    func applyingGivesOtherState(seed: UInt64) async throws {
        let (engine, states) = try await Self.history(seed)
        var random = SplitMix64(seed: seed)
        for _ in 0..<25 {
            let from = random.pick(states)
            let to = random.pick(states)
            // Every change for itself to the temporary database, or none before the end.
            let limit = random.chance(50) ? 0 : 1 << 20
            try await engine.withWriter { writer, _ in
                let difference = try NetDifference(
                    writer.database, from: from.position, to: to.position, memoryLimit: limit)
                var rows = Self.rows(of: from, namedAt: to)
                var faults: [String] = []
                try difference.forEachChange { change in
                    Self.apply(change, to: &rows, &faults)
                    return true
                }
                Self.forgetDefaults(of: difference, in: &rows)
                let wanted = Self.rows(of: to, namedAt: to)
                let name = "seed \(seed) @\(from.position)..@\(to.position)"
                #expect(faults.isEmpty, "\(name): \(faults.prefix(3))")
                for table in Set(rows.keys).union(wanted.keys) where rows[table] ?? [:] != wanted[table] ?? [:] {
                    Issue.record("\(name): \(table) is \(rows[table] ?? [:]), not \(wanted[table] ?? [:])")
                }
            }
        }
    }

    /// The first changes and those that follow are the changes, in their order, wherever the first ones end.
    @Test("The first changes and the rest are all changes", arguments: TestSettings.seeds(2, from: 8_000))
    func firstChangesAndRest(seed: UInt64) async throws {
        let (engine, states) = try await Self.history(seed)
        var random = SplitMix64(seed: seed)
        for _ in 0..<40 {
            _ = try await Self.first(
                engine, random.pick(states).position, random.pick(states).position, patience: random.below(200))
        }
    }

    /// The same where tables stay as they are, so that there are first changes.
    @Test("The first changes are found", arguments: TestSettings.seeds(3, from: 9_000))
    func firstChangesAreFound(seed: UInt64) async throws {
        let engine = try TestStore.inMemory(segmentLength: [4, 16, 1_024][Int(seed % 3)])
        try await engine.adopt("a", "CREATE TABLE a(k TEXT PRIMARY KEY, v, w, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.adopt("b", "CREATE TABLE b(k INTEGER PRIMARY KEY, v, w, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.adopt(
            "c", "CREATE TABLE c(k TEXT, l INTEGER, v, w, _position INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (k, l))")
        var random = SplitMix64(seed: seed)
        for _ in 0..<150 {
            let (key, value) = (random.below(30), random.below(9))
            let table = random.pick(["a", "b", "c"])
            let columns = table == "c" ? "k, l, v" : "k, v"
            let keys = table == "a" ? "'é\(key)'" : table == "b" ? "\(key - 9)" : "'k\(key % 5)', \(key % 7)"
            let sql =
                random.chance(30)
                ? "DELETE FROM \(table) WHERE v = \(value)"
                : """
                INSERT INTO \(table)(\(columns)) VALUES (\(keys), \(value)) ON CONFLICT DO UPDATE SET v = excluded.v;
                UPDATE \(table) SET w = \(value) WHERE v = \(random.below(9));
                """
            _ = try await engine.commit(sql)
        }
        let head = try await engine.withWriter { writer, _ in try LogReader(writer.database).head().position }
        var reported = 0
        for _ in 0..<60 {
            reported += try await Self.first(
                engine, Int64(random.below(Int(head) + 1)), Int64(random.below(Int(head) + 1)),
                patience: random.below(300))
        }
        #expect(reported > 200)
    }

    /// The first change comes before all rows that haven't changed, or changed later, were skipped.
    @Test("A first change far behind is found soon")
    func firstChangeFarBehind() async throws {
        let engine = try TestStore.inMemory(segmentLength: 1_024)
        try await engine.adopt("a", "CREATE TABLE a(k TEXT PRIMARY KEY, v, w, _position INTEGER NOT NULL DEFAULT 0)")
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
        let all = try await engine.commit("\(numbers) INSERT INTO a(k, v) SELECT printf('%05d', i), i FROM n").last
        let few = try await engine.commit("UPDATE a SET v = -v WHERE v > 4980").last
        #expect(try await Self.first(engine, all, few, patience: 60) > 0)
        _ = try await engine.commit("UPDATE a SET w = 1")
        #expect(try await Self.first(engine, all, few, patience: 60) > 0)
        #expect(try await Self.first(engine, few, all, patience: 60) > 0)
    }

    /// - Returns: How many changes came first.
    private static func first(_ engine: StorageEngine, _ from: Int64, _ to: Int64, patience: Int) async throws -> Int {
        try await engine.withWriter { writer, _ in
            func text(_ change: NetChange) -> String {
                let cells = change.cells.map { "\($0.column.name) \($0.old) \($0.new)" }
                return "\(change.operation) \(change.table.name) \(change.key) \(cells)"
            }
            var all: [String] = []
            try NetDifference(writer.database, from: from, to: to).forEachChange { change in
                all.append(text(change))
                return true
            }
            var found: [String] = []
            var steps = patience
            let difference = try NetDifference(unread: writer.database, from: from, to: to)
            let mark = try difference.forEachFirstChange(
                writer.database,
                while: {
                    steps -= 1
                    return steps > 0
                }
            ) { found.append(text($0)) }
            let first = found.count
            try difference.read(writer.database, after: mark)
            try difference.forEachChange(after: mark) { change in
                found.append(text(change))
                return true
            }
            #expect(found == all, "@\(from)..@\(to), \(first) first")
            return first
        }
    }

    @Test("As statements it produces the other tables", arguments: TestSettings.seeds(2, from: 6_000))
    func differenceAsStatements(seed: UInt64) async throws {
        let (engine, states) = try await Self.history(seed)
        var random = SplitMix64(seed: seed)
        for _ in 0..<20 {
            let from = random.pick(states)
            let to = random.pick(states)
            try await engine.withWriter { writer, _ in
                let copy = try DatabaseQueue()
                let difference = try NetDifference(
                    writer.database, from: from.position, to: to.position, forStatements: true)
                var statements: [String] = []
                try DifferenceStatements(difference).forEach { statements.append($0) }
                try copy.writeWithoutTransaction { db in
                    try Self.fill(db, with: from)
                    for statement in statements { try db.execute(sql: statement) }
                    let tables = try Self.tables(db, like: to)
                    let wanted = to.dump.filter { !CatalogEntity.isReserved($0.key) }.mapValues { rows in
                        rows.mapValues(\.cells)
                    }
                    #expect(
                        tables == wanted, "seed \(seed) @\(from.position)..@\(to.position): \(statements)")
                    let names = try String.fetchSet(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
                    #expect(names == Set(to.catalog.live.map(\.stored)))
                }
            }
        }
    }

    @Test("One row's difference equals that of a scan", arguments: TestSettings.seeds(1, from: 7_000))
    func rowDifferenceEqualsScan(seed: UInt64) async throws {
        let (engine, states) = try await Self.history(seed)
        var random = SplitMix64(seed: seed)
        for _ in 0..<8 {
            let from = random.pick(states)
            let to = random.pick(states)
            try await engine.withWriter { writer, _ in
                let whole = try NetDifference(writer.database, from: from.position, to: to.position)
                try whole.forEachChange { change in
                    // A table that was dropped with its rows leaves no way to them.
                    guard let entity = writer.catalog.entity(id: change.table.to?.id ?? 0), !entity.isDropped,
                        change.table.from?.id == entity.id, !change.key.contains(where: Self.isInvalid)
                    else { return true }
                    var selection = NetDifference.Selection()
                    selection.rows = [RowAddress(entity: entity.id, values: change.key)]
                    let single = try NetDifference(
                        writer.database, from: from.position, to: to.position, selection: selection)
                    var found: [RowDifference] = []
                    try single.forEachChange {
                        found.append(RowDifference($0))
                        return true
                    }
                    #expect(found == [RowDifference(change)], "seed \(seed)")
                    return true
                }
            }
        }
    }

    @Test("The catalog of every commit is found", arguments: TestSettings.seeds(2, from: 8_000))
    func catalogOfEveryCommit(seed: UInt64) async throws {
        let (engine, states) = try await Self.history(seed)
        try await engine.withWriter { writer, _ in
            for state in states {
                let found = try Catalog.load(writer.database, at: state.position)
                #expect(found == state.catalog, "seed \(seed)")
            }
        }
    }

    @Test("Points inside a commit are states too")
    func pointsInsideCommit() async throws {
        let engine = try TestStore.inMemory(segmentLength: 2)
        try await engine.adopt("t", "CREATE TABLE t(k PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        let receipt = try await engine.commit("INSERT INTO t(k, v) VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        _ = try await engine.commit("UPDATE t SET v = 'd' WHERE k = 2; DELETE FROM t WHERE k = 1")
        let changes = { (from: Int64, to: Int64) in
            try await engine.withWriter { writer, _ in
                var lines: [String] = []
                try NetDifference(writer.database, from: from, to: to).forEachChange { change in
                    lines.append("\(change.operation.rawValue) \(change.key[0].value) \(change.cells.map(\.new.value))")
                    return true
                }
                return lines
            }
        }
        #expect(try await changes(receipt.first, receipt.last) == ["insert 2 [\"b\"]", "insert 3 [\"c\"]"])
        #expect(try await changes(receipt.last, receipt.last + 1) == ["update 2 [\"d\"]"])
        #expect(
            try await changes(receipt.first, receipt.last + 2) == [
                "delete 1 [NULL]", "insert 2 [\"d\"]", "insert 3 [\"c\"]",
            ])
        #expect(
            try await changes(receipt.last + 2, receipt.first) == [
                "insert 1 [\"a\"]", "delete 2 [NULL]", "delete 3 [NULL]",
            ])
        #expect(try await changes(receipt.last, receipt.last) == [])
    }
}

// MARK: Histories

extension NetDifferenceTests {
    static func history(
        _ seed: UInt64, commits: Int = 60, changesShapes: Bool = false
    ) async throws -> (StorageEngine, [State]) {
        var generator = HistoryGenerator(seed: seed, changesShapes: changesShapes)
        let engine = try TestStore.inMemory(segmentLength: [4, 16, 1_024][Int(seed % 3)])
        var states = [
            State(position: 0, catalog: try await engine.withWriter { writer, _ in writer.catalog }, dump: [:])
        ]
        for round in 0..<commits {
            for steps in [generator.commit(), round % 5 == 0 ? generator.reuse() : []] where !steps.isEmpty {
                _ = try await engine.commit(steps, CommitMetadata(actor: "a\(round % 3)"))
            }
            if round % 13 == 12 { try await engine.seal() }
            states.append(try await state(engine))
        }
        return (engine, states)
    }

    static func state(_ engine: StorageEngine) async throws -> State {
        try await engine.withWriter { writer, _ in
            State(
                position: try LogReader(writer.database).head().position, catalog: writer.catalog,
                dump: try writer.dump())
        }
    }

    private static func isInvalid(_ value: ExactValue) -> Bool {
        guard case .text(let bytes) = value else { return false }
        return String(validating: bytes, as: UTF8.self) == nil
    }

    // MARK: Applying

    /// The rows of a state under the names that a difference to another state uses.
    private static func rows(of state: State, namedAt other: State) -> Rows {
        var result: Rows = [:]
        for entity in state.catalog.live {
            let later =
                other.catalog.live.first { $0.id == entity.id }
                ?? other.catalog.live.first { new in
                    new.name == entity.name && new.key.count == entity.key.count
                        && !state.catalog.live.contains { $0.id == new.id }
                }
            // A column that is new there begins with its default, unless it takes the place of one that is gone.
            let fresh = (later?.live ?? []).filter { new in
                !entity.live.contains { old in
                    old.id == new.id || old.name == new.name && !later!.live.contains { $0.id == old.id }
                }
            }
            var rows: [[Cell]: [String: Cell]] = [:]
            for (key, row) in state.dump[entity.id] ?? [:] {
                var cells: [String: Cell] = [:]
                for column in entity.live where column.keyOrdinal == 0 {
                    let heir = later?.live.first { $0.id == column.id }
                    let isTaken = later?.live.contains { new in
                        new.name == column.name && entity.live.contains { $0.id == new.id }
                    }
                    let name = heir?.name ?? column.name + (isTaken ?? false ? " (gone)" : "")
                    if let cell = row.cells[column.id], cell != .null { cells[name] = cell }
                }
                for column in fresh where column.fallback != .null { cells[column.name] = Cell(column.fallback) }
                rows[key] = cells
            }
            result[later?.name ?? entity.name, default: [:]].merge(rows) { $1 }
        }
        return result
    }

    private static func apply(_ change: NetChange, to rows: inout Rows, _ faults: inout [String]) {
        let key = change.key.map(Cell.init)
        let table = change.table.name
        var row = rows[table]?[key]
        if (change.operation == .insert) != (row == nil) {
            return faults.append("\(change.operation) of \(table) \(key) finds \(row.map { "\($0)" } ?? "nothing")")
        }
        for cell in change.cells {
            let old = row?[cell.column.name] ?? .null
            if old != Cell(cell.old) {
                faults.append("\(table) \(key) \(cell.column.name) was \(old), not \(cell.old)")
            }
            if change.operation == .update, cell.old == cell.new { faults.append("\(table) \(key) changes nothing") }
            let new = Cell(cell.new)
            if row == nil { row = [:] }
            row?[cell.column.name] = new == .null ? nil : new
        }
        let fresh = Set(change.table.columns.filter { $0.from == nil }.map(\.name))
        let rest = (row ?? [:]).filter { !fresh.contains($0.key) }
        if change.operation == .delete, !rest.isEmpty { faults.append("\(table) \(key) had \(rest) too") }
        rows[table, default: [:]][key] = change.operation == .delete ? nil : row ?? [:]
    }

    /// What is left in columns that the second state doesn't have is their default.
    private static func forgetDefaults(of difference: NetDifference, in rows: inout Rows) {
        for table in difference.tables {
            for column in table.columns where column.to == nil {
                let fallback = Cell(column.from?.fallback ?? .null)
                rows[table.name] = rows[table.name]?.mapValues { row in
                    row.filter { $0.key != column.name || $0.value != fallback }
                }
            }
        }
    }

    // MARK: Tables

    /// Makes the tables of a state in another database.
    static func fill(_ db: GRDB.Database, with state: State) throws {
        for entity in state.catalog.live {
            for sql in entity.definition { try db.execute(sql: sql) }
            let columns = entity.key + entity.live.filter { $0.keyOrdinal == 0 }
            let names = columns.map { quoted($0.stored) }.joined(separator: ", ")
            let marks = columns.map { _ in "?" }.joined(separator: ", ")
            let insert = try PreparedStatement(
                db.connection, "INSERT INTO \(quoted(entity.stored))(\(names)) VALUES (\(marks))")
            for (key, row) in state.dump[entity.id] ?? [:] {
                let cells = key + entity.live.filter { $0.keyOrdinal == 0 }.map { row.cells[$0.id] ?? .null }
                for (index, cell) in cells.enumerated() { cell.exact.bind(to: insert, at: Int32(index + 1)) }
                try insert.execute()
            }
        }
    }

    /// Reads the tables that a state has from another database.
    static func tables(_ db: GRDB.Database, like state: State) throws -> [UInt32: [[Cell]: [UInt32: Cell]]] {
        var tables: [UInt32: [[Cell]: [UInt32: Cell]]] = [:]
        for entity in state.catalog.live {
            let others = entity.live.filter { $0.keyOrdinal == 0 }
            let names = (entity.key + others).map { quoted($0.stored) }.joined(separator: ", ")
            let select = try PreparedStatement(
                db.connection, "SELECT \(names) FROM \(quoted(entity.stored))")
            tables[entity.id] = [:]
            while try select.step() {
                let cells = (0..<entity.key.count + others.count).map { Cell(select.pointer, Int32($0)) }
                tables[entity.id]?[Array(cells[..<entity.key.count])] = Dictionary(
                    uniqueKeysWithValues: zip(others.map(\.id), cells[entity.key.count...]))
            }
        }
        return tables
    }
}

extension Cell {
    init(_ value: ExactValue) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let bits): self = .real(bits)
        case .text(let bytes): self = .text(bytes)
        case .blob(let bytes): self = .blob(bytes)
        }
    }

    var exact: ExactValue {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let bits): .real(bits)
        case .text(let bytes): .text(bytes)
        case .blob(let bytes): .blob(bytes)
        }
    }
}
