import CSQLite
import Foundation
import PredicateTestSupport
import TestSupport
import Testing

@testable import StorageCore

/// A condition has the same answer in Swift as in SQLite, on every row.
///
/// `STORAGEKIT_SEED` repeats a run, `STORAGEKIT_TEST_SCALE` makes it longer, with a seed of its own: 1 is 30,000 conditions
/// and more, each on a handful of rows.
@Suite struct PredicateTests {
    @Test("Every answer is SQLite's", arguments: testSeeds(1).prefix(1))
    func answersEqualSQLite(seed: UInt64) throws {
        var generator = PredicateGenerator(seed: seed)
        let database = try SQLiteTable()
        let count = Int(30_000 * testScale)
        var cases = 0
        var round = 0
        while cases < count {
            round += 1
            let rows = (0..<8).map { _ in generator.row() }
            try database.fill(rows)
            // What the table keeps is what affinity makes of it.
            let stored = try database.rows()
            for _ in 0..<250 {
                let predicate = generator.predicate(depth: 3)
                let failing: Int?
                do {
                    failing = try mismatch(predicate, stored, database)
                } catch let failure as SQLiteTable.Failure where failure.isBugOfRTRIM {
                    continue
                }
                if let failing {
                    let small = try shrink(predicate) { try mismatch($0, stored, database) != nil }
                    let row = stored[try mismatch(small, stored, database) ?? failing]
                    Issue.record("seed \(seed), round \(round): \(small) on \(row)")
                    return
                }
                cases += 1
            }
        }
        #expect(cases >= count)
    }

    /// The number of the first row on which the two differ.
    private func mismatch(_ predicate: RowPredicate, _ rows: [[StorageValue]], _ database: SQLiteTable) throws -> Int? {
        let sql = try PredicateSQL(predicate) { "\"\($0)\"" }
        let answers = try database.answers(sql.text, sql.values)
        let evaluator = try PredicateEvaluator(predicate, columns: SQLiteTable.columns)
        for (index, row) in rows.enumerated() where evaluator.evaluate(row) != answers[index] { return index }
        return nil
    }

    /// The smallest part of a condition that still fails.
    private func shrink(_ predicate: RowPredicate, _ fails: (RowPredicate) throws -> Bool) throws -> RowPredicate {
        for part in parts(of: predicate) where try fails(part) { return try shrink(part, fails) }
        return predicate
    }

    private func parts(of predicate: RowPredicate) -> [RowPredicate] {
        switch predicate {
        case .not(let part): [part]
        case .all(let parts): parts + parts.indices.map { .all(Array(parts[..<$0] + parts[($0 + 1)...])) }
        case .any(let parts): parts + parts.indices.map { .any(Array(parts[..<$0] + parts[($0 + 1)...])) }
        case .among(let column, let values):
            values.indices.map { .among(column: column, Array(values[..<$0] + values[($0 + 1)...])) }
        default: []
        }
    }

    @Test("Every order is SQLite's", arguments: testSeeds(1).prefix(1))
    func ordersEqualSQLite(seed: UInt64) throws {
        var generator = PredicateGenerator(seed: seed)
        let database = try SQLiteTable()
        for round in 0..<Int(300 * max(testScale, 0.1)) {
            try database.fill((0..<20).map { _ in generator.row() })
            let stored = try database.rows()
            let orderings = (0..<Int.random(in: 1...3, using: &generator)).map { _ in generator.ordering() }
            let terms = try orderings.map { try $0.sql { "\"\($0)\"" } }.joined(separator: ", ")
            let expected = try database.order(by: terms)
            let comparator = try RowComparator(orderings, columns: SQLiteTable.columns)
            let sorted = stored.indices.sorted {
                let order = comparator.order(stored[$0], stored[$1])
                return order == 0 ? $0 < $1 : order < 0
            }
            #expect(sorted == expected, "seed \(seed), round \(round): \(terms)")
        }
    }

    @Test("A long chain isn't too deep for SQLite or for us")
    func longChain() throws {
        let database = try SQLiteTable()
        var generator = PredicateGenerator(seed: 1)
        try database.fill([generator.row()])
        var chain = RowPredicate.constant(false)
        for number in 0..<1_000 {
            chain = chain || .comparison(column: "i", .equal, .value(.integer(Int64(number) + 1_000_000)))
        }
        #expect(try mismatch(chain, database.rows(), database) == nil)
        #expect(try mismatch(!chain, database.rows(), database) == nil)
    }

    @Test("A condition that is nested too deeply is refused")
    func depth() throws {
        func nested(_ depth: Int) -> RowPredicate {
            var predicate = RowPredicate.isNull(column: "t")
            for level in 0..<depth {
                switch level % 3 {
                case 0: predicate = .all([predicate, .isNull(column: "i")])
                case 1: predicate = .any([.isNull(column: "i"), predicate])
                default: predicate = !predicate
                }
            }
            return predicate
        }
        _ = try PredicateSQL(nested(199)) { $0 }
        for depth in [200, 1_000] {
            let error = #expect(throws: StorageError.self) { try PredicateSQL(nested(depth)) { $0 } }
            #expect(error?.code == .limitExceeded)
        }
    }

    /// Each level has the one before twice, which takes no memory.
    @Test("A condition whose parts double with each level is refused at once", .timeLimit(.minutes(1)))
    func doublingParts() {
        var condition = RowPredicate.isNull(column: "t")
        for _ in 0..<60 { condition = .any([condition, .not(condition)]) }
        let error = #expect(throws: StorageError.self) { try PredicateSQL(condition) { $0 } }
        #expect(error?.code == .limitExceeded)
        #expect(error?.message == "A condition consists of more than 1048576 conditions.")
    }

    @Test("Unknown columns and raw SQL are refused")
    func unknownColumnsAndRawSQL() {
        let unknown = #expect(throws: StorageError.self) {
            try PredicateEvaluator(.isNull(column: "nope"), columns: SQLiteTable.columns)
        }
        #expect(unknown?.code == .invalidName)
        let sql = #expect(throws: StorageError.self) {
            try PredicateEvaluator(.sql("1", []), columns: SQLiteTable.columns)
        }
        #expect(sql?.code == .invalidArgument)
        #expect(throws: StorageError.self) {
            try PredicateSQL(.like(column: "t", pattern: String(repeating: "x", count: 50_001))) { $0 }
        }
    }
}
