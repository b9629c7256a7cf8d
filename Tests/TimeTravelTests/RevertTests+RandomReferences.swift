import GRDB
import StorageCore
import StorageHistory
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Random tables with foreign keys of all actions and unique columns, and random statements for them.
private struct ReferringTables {
    static let names = ["t0", "t1", "t2"]

    var random: SplitMix64
    private(set) var sql = ""

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let actions = ["NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"]
        for name in Self.names {
            let parent = "\(random.pick(Self.names))(\(random.pick(["id", "u"])))"
            sql += """
                CREATE TABLE \(name)(id INTEGER PRIMARY KEY, u INTEGER UNIQUE, x INTEGER,
                    f INTEGER \(random.pick(["", "", "DEFAULT 1", "UNIQUE"])) REFERENCES \(parent)
                        ON DELETE \(random.pick(actions)) ON UPDATE \(random.pick(actions))
                        \(random.pick(["", "DEFERRABLE INITIALLY DEFERRED"])));

                """
        }
    }

    mutating func statements() -> [String] { (0...random.below(4)).map { _ in statement() } }

    private mutating func statement() -> String {
        let table = random.pick(Self.names)
        switch random.below(10) {
        case 0...4:
            let verb = random.pick(["INSERT", "INSERT", "INSERT OR REPLACE"])
            return "\(verb) INTO \(table)(id, u, x, f) VALUES (\(id()), \(value()), \(value()), \(value()))"
        case 5...7:
            let change = random.pick([
                "u = \(value())", "x = \(value())", "f = \(value())", "id = \(id())", "u = 7 - u",
            ])
            return "UPDATE \(table) SET \(change) WHERE \(random.pick(["id", "u"])) = \(id())"
        default: return "DELETE FROM \(table) WHERE id = \(id())"
        }
    }

    private mutating func id() -> Int { 1 + random.below(6) }
    private mutating func value() -> String { random.chance(30) ? "NULL" : "\(id())" }
}

extension RevertTests {
    /// The last seed found a revert that an `ON UPDATE` action kept from being reverted itself.
    @Test(
        "Reverts and restores leave other rows as they are, whatever refers to what",
        arguments: testSeeds(10) + [8_134_646_536_169_874_213])
    func randomReferences(seed: UInt64) async throws {
        var tables = ReferringTables(seed: seed)
        let storage = try openTable(tables.sql, adopting: ReferringTables.names)
        func commit() -> Int64 { storage.engine.committed.commit }
        let first = commit()
        var states = [first: try await cells(storage)]
        for _ in 0..<30 {
            let statements = tables.statements()
            // Some are refused, one by one or at the end.
            _ = try? await storage.write { tx in
                for statement in statements { try? tx.execute(statement) }
            }
            let before = try await cells(storage)
            states[commit()] = before
            guard try await referencesAreSound(storage) else { return }
            guard commit() > first, tables.random.chance(40) else { continue }
            let number = Int64.random(in: first + 1...commit(), using: &tables.random)
            let policy = tables.random.pick([ConflictPolicy.abort, .skip])
            let restores = tables.random.chance(50)
            let report = try await reportOfBoth { isDryRun in
                if restores {
                    return try await storage.engine.restore(
                        [], to: .commit(number), policy: policy, metadata: CommitMetadata(), isDryRun: isDryRun)
                }
                return try await storage.revert(number, onConflict: policy, isDryRun: isDryRun)
            }
            let after = try await cells(storage)
            states[commit()] = after
            if restores {
                if let report, report.outcome.conflicts.isEmpty { #expect(after == states[number]) }
            } else {
                let concerned = changedRows(states[number - 1] ?? [:], states[number] ?? [:])
                #expect(changedRows(before, after).isSubset(of: concerned))
            }
            if report == nil { #expect(after == before) }
            guard let back = report?.receipt?.commit else { continue }
            try await storage.revert(back)
            #expect(try await cells(storage) == before)
            states[commit()] = before
        }
        #expect(try await storage.verify().isSound)
    }

    /// The report of a revert whose dry run foretells it; nil if there is a conflict.
    private func reportOfBoth(_ revert: (_ isDryRun: Bool) async throws -> RevertReport) async throws -> RevertReport? {
        var reports: [RevertReport?] = []
        for isDryRun in [true, false] {
            do {
                reports.append(try await revert(isDryRun))
            } catch let error as StorageError where error.code == .conflict {
                reports.append(nil)
            }
        }
        #expect(reports[0]?.outcome == reports[1]?.outcome)
        return reports[1]
    }

    /// The rows of all tables, such as `1,NULL,2,3`, by table and id.
    private func cells(_ storage: Storage) async throws -> [String: String] {
        try await storage.read { db in
            var cells: [String: String] = [:]
            for table in ReferringTables.names {
                let sql = "SELECT id, quote(u) || ',' || quote(x) || ',' || quote(f) AS cells FROM \(table)"
                for row in try GRDB.Row.fetchAll(db, sql: sql) { cells["\(table)/\(row["id"] as Int)"] = row["cells"] }
            }
            return cells
        }
    }

    private func changedRows(_ before: [String: String], _ after: [String: String]) -> Set<String> {
        Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    }

    /// Whether no statement has left a reference to a missing row.
    private func referencesAreSound(_ storage: Storage) async throws -> Bool {
        try await storage.read { try GRDB.Row.fetchOne($0, sql: "PRAGMA foreign_key_check") == nil }
    }
}
