import Foundation
import GRDB
import StorageKit
import StorageLog
import TestSupport
import Testing

/// Time travel, differences, reverts, restores and exports, as users ask for them, against a bare SQLite database that ran the
/// same statements: tables of every kind of key, whose columns and names change, over restarts.
struct MirroredHistoryTests {
    @Test("The past and what is made of it are those of plain SQLite", arguments: testSeeds(2))
    func historyEqualsPlainSQLite(seed: UInt64) async throws {
        let store = try await MirroredStore(seed: seed, commits: 45)
        var random = SplitMix64(seed: seed)
        let run = Run(store: store, name: "seed \(seed)")
        run.expect(try await store.present(), store.last.named, "the present")
        for _ in 0..<4 { try await run.expectPast(random.pick(store.states)) }
        for _ in 0..<6 { try await run.expectDifference(random.pick(store.states), random.pick(store.states)) }
        for _ in 0..<2 { try run.expectStatements(random.pick(store.states), random.pick(store.states)) }
        try run.expectHistoryTables(random.pick(store.states), &random)
        try await run.expectReverts(&random)
        for _ in 0..<2 { try await run.expectRestore(random.pick(store.states), &random) }
        let faults = try await store.storage.verify().findings
        #expect(faults.isEmpty, "seed \(seed): \(faults)")
        try await store.storage.rebuild()
        run.expect(try await store.present(), store.last.named, "the rebuilt tables")
        let left = try await store.storage.verify().findings
        #expect(left.isEmpty, "seed \(seed), rebuilt: \(left)")
        try await run.expectExport(&random)
        try await store.storage.close()
    }
}

private struct Run {
    let store: MirroredStore
    let name: String

    func expect(_ found: NamedRows, _ wanted: NamedRows, _ what: String) {
        for table in Set(found.keys).union(wanted.keys).sorted() {
            let (found, wanted) = (found[table] ?? [:], wanted[table] ?? [:])
            let keys = Set(found.keys).union(wanted.keys).filter { found[$0] != wanted[$0] }
            for key in keys.prefix(3) {
                let (one, other) = (found[key], wanted[key])
                let columns = Set((one ?? [:]).keys).union((other ?? [:]).keys).filter { one?[$0] != other?[$0] }
                let cells = columns.sorted().map { column in
                    "\(column) is \(one?[column].map { "\($0)" } ?? "-"), not \(other?[column].map { "\($0)" } ?? "-")"
                }
                let state = one == nil ? "isn't there" : other == nil ? "is there" : cells.joined(separator: ", ")
                Issue.record("\(name), \(what): \(table) \(key) \(state)")
            }
        }
    }

    // MARK: Reading

    func expectPast(_ state: PlainState) async throws {
        let storage = store.storage
        let then = try await storage.asOf(.position(state.position), schema: .asRecorded)
        #expect(Set(then.entities) == Set(state.tables.map(\.name)), "\(name) @\(state.position)")
        let recorded = try await then.read { db in try MirroredStore.read(state.tables, in: db) }
        expect(recorded, state.named, "@\(state.position) as recorded")
        let tables = store.last.tables
        let now = try await storage.asOf(.commit(state.commit))
        #expect(now.position == state.position, "\(name), commit \(state.commit)")
        let current = try await now.read(tables.map(\.name)) { db in try MirroredStore.read(tables, in: db) }
        expect(current, state.inTheShape(of: tables), "@\(state.position) as current")
        // With the declared type.
        let rows = state.tables[0].rows
        let cards = try await now.all(Card.self)
        #expect(Set(cards.map { [StorageValue.text($0.id)] }) == Set(rows.keys), "\(name) @\(state.position)")
        #expect(try await now.count(Card.self) == rows.count, "\(name) @\(state.position)")
        let scored = rows.values.filter { if case .real(let score)? = $0[3] { score > 0 } else { false } }
        let found = try await now.query(Card.self).where { $0.score > 0 }.count()
        #expect(found == scored.count, "\(name) @\(state.position)")
        for id in ["a", "", "nothing"] {
            let card = try await now.get(Card.self, id: id)
            let row = rows[[.text(id)]]
            #expect((card == nil) == (row == nil), "\(name) @\(state.position), card \(id)")
            guard let card, let row else { continue }
            let score = card.score.map { StorageValue.real($0) } ?? .null
            let data = card.data.map { StorageValue.blob($0) } ?? .null
            let wanted = [2: StorageValue.text(card.title), 3: score, 4: data]
            #expect(row.filter { $0.key < 5 } == wanted, "\(name) @\(state.position), card \(id)")
        }
    }

    func expectDifference(_ from: PlainState, _ to: PlainState) async throws {
        let what = "@\(from.position) to @\(to.position)"
        var rows = from.asBeginning(of: to)
        var faults: [String] = []
        for try await change in store.storage.diff(from: .position(from.position), to: .position(to.position)) {
            let key = change.key.map(\.value)
            // A table that is gone has no rows to compare.
            guard let table = to.tables.first(where: { $0.name == change.table && $0.keys.count == key.count }) else {
                if change.operation != .delete { faults.append("\(change)") }
                continue
            }
            let columns = Set(table.columns.map(\.name))
            var row = rows[table.name]?[key]
            if (row == nil) != (change.operation == .insert) { faults.append("\(change) finds \(row ?? [:])") }
            for field in change.old ?? [] where columns.contains(field.column) && row?[field.column] != field.value {
                faults.append("\(change) finds \(row?[field.column] ?? .null) in \(field.column)")
            }
            if change.operation == .insert {
                row = Dictionary(uniqueKeysWithValues: columns.map { ($0, StorageValue.null) })
            }
            for field in change.new ?? [] where columns.contains(field.column) { row?[field.column] = field.value }
            rows[table.name]?[key] = change.operation == .delete ? nil : row
        }
        #expect(faults.isEmpty, "\(name), \(what): \(faults.prefix(3))")
        expect(rows, to.named, what)
    }

    /// What the tool writes as SQL makes one state of plain tables the other.
    func expectStatements(_ from: PlainState, _ to: PlainState) throws {
        let plain = try DatabaseQueue()
        try plain.write { db in for table in from.tables { try table.fill(db) } }
        let what = "@\(from.position) to @\(to.position) as SQL"
        if let table = from.tables.dropFirst().first {
            let query = "SELECT \(table.rowInSQL) AS row FROM \(quoted(table.name)) ORDER BY 1"
            let past = try ToolProcess.run(
                ["at", "@\(from.position)", query, "--format", "csv"], store: store.path)
            let wanted = try plain.read { try String.fetchAll($0, sql: query) }
            let found = past.output.split(whereSeparator: \.isNewline).dropFirst().map(String.init)
            #expect(found == wanted, "\(name) at @\(from.position), \(table.name): \(past.errors)")
        }
        let outcome = try ToolProcess.run(
            ["diff", "@\(from.position)", "@\(to.position)", "--format", "sql"], store: store.path)
        #expect(outcome.status == 0, "\(name), \(what): \(outcome.errors)")
        do {
            // The statements begin and end their own transaction.
            try plain.writeWithoutTransaction { try $0.execute(sql: outcome.output) }
            expect(try plain.read { try MirroredStore.read(to.tables, in: $0) }, to.named, what)
        } catch {
            Issue.record("\(name), \(what): \(error)\n\(outcome.output)")
        }
    }

    /// The versions that a table of history says were valid are the rows that were there.
    func expectHistoryTables(_ state: PlainState, _ random: inout SplitMix64) throws {
        let table = random.pick(store.last.tables)
        let shaped = state.inTheShape(of: [table])[table.name] ?? [:]
        var then = table
        then.rows = shaped.mapValues { cells in
            Dictionary(uniqueKeysWithValues: table.columns.map { ($0.id, cells[$0.name] ?? .null) })
        }
        let plain = try DatabaseQueue()
        try plain.write { [then] db in try then.fill(db) }
        let wanted = try plain.read {
            try String.fetchAll($0, sql: "SELECT \(table.rowInSQL) FROM \(quoted(table.name)) ORDER BY 1")
        }
        let position = state.position
        let query = """
            SELECT \(table.rowInSQL) AS row FROM \(quoted("history_" + table.name))
            WHERE _op <> 'delete' AND _position <= \(position) AND (_until IS NULL OR _until > \(position)) ORDER BY 1
            """
        let outcome = try ToolProcess.run(["sql", query, "--format", "csv"], store: store.path)
        let found = outcome.output.split(whereSeparator: \.isNewline).dropFirst().map(String.init)
        #expect(found == wanted, "\(name), history of \(table.name) @\(position): \(outcome.errors)")
    }

    // MARK: Reverting

    /// Commits since whose parents no schema has changed, reverted where nothing has changed since, and put back.
    func expectReverts(_ random: inout SplitMix64) async throws {
        let last = store.last
        let shape = { (state: PlainState) in
            state.tables.map { "\($0.id) \($0.name) \($0.keys.map(\.name)) \($0.columns.map(\.name))" }
        }
        let indices = store.states.indices.dropFirst().filter { index in
            store.states[index].changedRowsOnly && shape(store.states[index - 1]) == shape(last)
        }
        for index in Set((0..<3).compactMap { _ in indices.isEmpty ? nil : random.pick(Array(indices)) }).sorted() {
            let (before, after) = (store.states[index - 1], store.states[index])
            let report = try await store.storage.revert(after.commit, onConflict: .skip)
            let present = try await store.present()
            var wanted: NamedRows = [:]
            for table in last.tables {
                let (old, new) = (before.named[table.name] ?? [:], after.named[table.name] ?? [:])
                let (now, found) = (last.named[table.name] ?? [:], present[table.name] ?? [:])
                wanted[table.name] = now
                for key in Set(old.keys).union(new.keys) where old[key] != new[key] {
                    wanted[table.name]?[key] = Self.reverted(old[key], new[key], now: now[key], found: found[key])
                }
            }
            expect(present, wanted, "commit \(after.commit) reverted")
            guard let commit = report.receipt?.commit else { continue }
            try await store.storage.revert(commit)
            expect(try await store.present(), last.named, "commit \(after.commit) reverted twice")
        }
    }

    private typealias Cells = [String: StorageValue]

    /// What the revert of a change makes of a row.
    ///
    /// - Parameter found: What it has made. A row that has changed since may stay as a whole: it may have gone and come in the commit.
    private static func reverted(_ old: Cells?, _ new: Cells?, now: Cells?, found: Cells?) -> Cells? {
        guard now != new else { return old }
        if found == now { return now }
        guard let old, let new, var row = now else { return new == nil && now == nil ? old : now }
        for (column, value) in old where value != new[column] && row[column] == new[column] { row[column] = value }
        return row
    }

    /// Whole tables and a single row are restored, and that is reverted.
    func expectRestore(_ state: PlainState, _ random: inout SplitMix64) async throws {
        let (last, storage, point) = (store.last, store.storage, StoragePoint.position(state.position))
        let wanted = state.inTheShape(of: last.tables)
        if let commit = try await storage.restore(to: point).receipt?.commit {
            expect(try await store.present(), wanted, "restored to @\(state.position)")
            try await storage.revert(commit)
        }
        expect(try await store.present(), last.named, "restored to @\(state.position) and reverted")
        let id = random.pick(["a", "A", "", "é", "1"])
        if let commit = try await storage.restore(Card.self, id: id, to: point).receipt?.commit {
            var rows = last.named
            rows["cards"]?[[.text(id)]] = wanted["cards"]?[[.text(id)]]
            expect(try await store.present(), rows, "card \(id) restored to @\(state.position)")
            try await storage.revert(commit)
        }
        expect(try await store.present(), last.named, "card \(id) restored to @\(state.position) and reverted")
    }

    // MARK: Export

    /// An import into empty tables leads to the same rows behind each commit.
    func expectExport(_ random: inout SplitMix64) async throws {
        let exported = try ToolProcess.run(["export"], store: store.path)
        #expect(exported.status == 0, "\(name): \(exported.errors)")
        let file = store.folder.path("export.jsonl")
        try Data(exported.output.utf8).write(to: URL(fileURLWithPath: file))
        var numbers: [Int64] = []
        for line in exported.output.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let number = try #require(object?["tx"] as? Int)
            if numbers.last != Int64(number) { numbers.append(Int64(number)) }
        }
        let empty = try store.emptyCopy()
        let base = empty.engine.committed.commit
        try await empty.close()
        let imported = try ToolProcess.run(["import", file], store: store.folder.path("copy.sqlite"))
        #expect(imported.status == 0, "\(name): \(imported.errors)")
        guard imported.status == 0 else { return }
        let copy = try store.emptyCopy()
        let last = store.last
        for state in [last] + (0..<3).map({ _ in random.pick(store.states) }) {
            let commit = base + Int64(numbers.count { $0 <= state.commit })
            // Columns that were there then and still are.
            let tables = last.tables.map { table in
                var table = table
                let then = state.table(table.id)
                table.columns.removeAll { column in !(then?.columns.contains { $0.id == column.id } ?? false) }
                return table
            }
            let found = try await copy.asOf(.commit(commit), schema: .asRecorded).read(tables.map(\.name)) { db in
                try MirroredStore.read(tables, in: db)
            }
            expect(found, state.inTheShape(of: tables), "imported, commit \(state.commit)")
        }
        let faults = try await copy.verify().findings
        #expect(faults.isEmpty, "\(name), imported: \(faults)")
        try await copy.close()
    }
}
