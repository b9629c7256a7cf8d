import CSQLite
import GRDB
import SchemaTestSupport
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// The history of the schema is what the states of the catalog at its commits differ in.
@Suite struct SchemaHistoryTests {
    @Test("Every commit knows what it did to the schema", arguments: [1, 3, 1_024])
    func schemaChangesOfCommits(segmentLength: Int) async throws {
        for seed in TestSettings.seeds(2, from: 77) {
            var random = SplitMix64(seed: seed)
            let engine = try TestStore.inMemory(segmentLength: segmentLength)
            var commits: [CommitReceipt] = []
            var tables: [String] = []
            for step in 0..<40 {
                let receipt = try await change(engine, step, &tables, &random)
                if receipt.commit != nil { commits.append(receipt) }
                if step == 20 { try await engine.seal() }
            }
            let receipts = commits
            try await engine.withWriter { writer, _ in
                let database = writer.database
                var expected: [String] = []
                for receipt in receipts {
                    let changes = SchemaChange.all(
                        from: try Catalog.load(database, at: receipt.first - 1),
                        to: try Catalog.load(database, at: receipt.last))
                    if !changes.isEmpty { expected.append("\(receipt.commit ?? 0) \(changes)") }
                }
                #expect(expected.count > 10)
                let head = writer.head.position
                for positions in [1...head, 1...Int64.max, head / 3...head / 2 + 1] {
                    let isAskedFor = { (line: String) in
                        receipts.contains { receipt in
                            line.hasPrefix("\(receipt.commit ?? 0) ")
                                && Self.schemaPositions(receipt, database).contains { positions.contains($0) }
                        }
                    }
                    for descending in [false, true] {
                        var found: [String] = []
                        try SchemaHistory(LogReader(database)).forEachCommit(in: positions, descending: descending) {
                            found.append("\($0.number) \($1)")
                            return true
                        }
                        let wanted = expected.filter(isAskedFor)
                        let isSame = found == (descending ? wanted.reversed() : wanted)
                        #expect(isSame, "seed \(seed) \(positions) \(descending)")
                    }
                }
                var first: Int64?
                try SchemaHistory(LogReader(database)).forEachCommit(in: 1...head, descending: true) { commit, _ in
                    #expect(first == nil)
                    first = commit.number
                    return false
                }
                #expect(expected.last?.hasPrefix("\(first ?? 0) ") == true)
            }
        }
    }

    /// Where the events of the catalog of a commit lie.
    private static func schemaPositions(_ receipt: CommitReceipt, _ database: Connection) -> [Int64] {
        (receipt.first...receipt.last).filter { position in
            // A position that can't be read fails the test by being missed.
            guard let batch = try? LogReader(database).batch(containing: position) else { return false }
            let index = Int(position - batch.header.first)
            return batch.withView { $0.shape(of: index).entity == CatalogEntity.catalog.id }
        }
    }

    private func change(
        _ engine: StorageEngine, _ step: Int, _ tables: inout [String], _ random: inout SplitMix64
    ) async throws -> CommitReceipt {
        guard let place = tables.indices.randomElement(using: &random),
            !Int.random(in: 0..<5, using: &random).isMultiple(of: 5)
        else {
            tables.append("t\(step)")
            return try await engine.adopt(
                "t\(step)",
                "CREATE TABLE t\(step)(id INTEGER PRIMARY KEY, a TEXT, b\(step) REAL, _position INTEGER NOT NULL DEFAULT 0)"
            )
        }
        let table = tables[place]
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return try await engine.commit("ALTER TABLE \(table) ADD COLUMN c\(step) INTEGER DEFAULT \(step)")
        case 1: return try await engine.commit("CREATE INDEX i\(step) ON \(table)(a)")
        case 2:
            tables[place] = "r\(step)"
            return try await engine.commit("ALTER TABLE \(table) RENAME TO r\(step)")
        case 3:
            return try await engine.commit(
                "ALTER TABLE \(table) ADD COLUMN d\(step); ALTER TABLE \(table) RENAME COLUMN d\(step) TO e\(step)")
        case 4:
            tables.remove(at: place)
            return try await engine.commit("DROP TABLE \(table)")
        case 5:
            return try await engine.commit(
                "ALTER TABLE \(table) ADD COLUMN f\(step); INSERT INTO \(table)(id) VALUES (\(step)); ALTER TABLE \(table) DROP COLUMN f\(step)"
            )
        default: return try await engine.commit("INSERT INTO \(table)(id, a) VALUES (\(step), 'x')")
        }
    }
}
