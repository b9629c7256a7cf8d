import CSQLite
import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import Synchronization
import TestSupport
import Testing

@testable import StorageLog

/// Nothing escapes the log: whatever statements do to tables, the captured events are exactly the difference between
/// the tables before and after, in an order that can be replayed.
@Suite struct CaptureDifferenceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let seed: UInt64
        let segmentLength: Int
        var testDescription: String { "seed \(seed), segments of \(segmentLength)" }
    }

    static let cases = TestSettings.seeds(2, from: 1).flatMap { seed in
        TestSettings.segmentLengths.map { Case(seed: seed, segmentLength: $0) }
    }

    @Test("Events equal the difference of the tables", arguments: cases)
    func eventsEqualTableDifference(_ test: Case) async throws {
        let engine = try TestStore.inMemory(segmentLength: test.segmentLength)
        _ = try await engine.commit(CommitMetadata()) { writer, db in try CaptureTables.make(in: writer, db) }
        var run = CaptureRun(seed: test.seed &* 1_000 &+ UInt64(test.segmentLength), engine: engine)
        try await run.catchUp()
        for number in 1...(testScale > 1 ? 200 : 100) {
            let faults = try await run.commit()
            guard faults.isEmpty else {
                Issue.record(
                    "\(test.testDescription), commit \(number): \(faults.prefix(5).joined(separator: "\n"))\n\(run.reported)"
                )
                return
            }
        }
        try await engine.seal()
        let faults = try await run.checkHistories()
        #expect(faults.isEmpty, "\(test.testDescription): \(faults.prefix(5))")
        try await engine.close()
    }
}

/// One store under random commits, and the oracle beside it.
struct CaptureRun {
    private var generator: StatementGenerator
    private let engine: StorageEngine
    private var oracle = LogOracle()
    /// The steps of the last commit, for the report of a failure.
    private(set) var reported = ""

    init(seed: UInt64, engine: StorageEngine) {
        generator = StatementGenerator(seed: seed)
        self.engine = engine
    }

    enum Step: Sendable {
        case sql(String)
        /// Statements inside `db.inSavepoint`, which is kept, rolled back, or left by a throw.
        case savepoint([String], SavepointEnd)
    }

    enum SavepointEnd: Sendable { case commit, rollback, error }
    struct Refusal: Error {}

    mutating func catchUp() async throws {
        let events = try await engine.withWriter { writer, _ in try LogReader(writer.database).events() }
        _ = oracle.apply(events)
    }

    /// Runs one commit, and returns what is wrong with what the log says of it.
    mutating func commit() async throws -> [String] {
        let steps = makeSteps()
        let throwsAtEnd = generator.random.chance(12)
        let stopsAtErrors = generator.random.chance(15)
        reported =
            steps.map { "\($0)" }.joined(separator: "\n")
            + "\nthrows: \(throwsAtEnd), stops at errors: \(stopsAtErrors)"
        let before = try await look(after: oracle.head)
        var receipt: CommitReceipt?
        do {
            receipt = try await engine.commit(CommitMetadata(reason: reported)) { _, db in
                try Self.run(steps, db, stopsAtErrors: stopsAtErrors)
                if throwsAtEnd { throw Refusal() }
            }
        } catch {}
        let after = try await look(after: oracle.head)
        guard let receipt else {
            let unchanged = before.dump == after.dump && after.events.isEmpty
            return unchanged ? [] : ["a failed commit left something behind: \(after.events)"]
        }
        var faults = oracle.apply(after.events)
        if receipt.eventCount != after.events.count { faults.append("the receipt counts \(receipt.eventCount) events") }
        if receipt.commit == nil && before.dump != after.dump { faults.append("a change made no commit") }
        if receipt.last != oracle.head {
            faults.append("the receipt ends at @\(receipt.last), the log at @\(oracle.head)")
        }
        return faults + oracle.differences(after.dump, after.catalog)
    }

    /// Whether the chain of back-links of every row that ever was holds exactly its events.
    func checkHistories() async throws -> [String] {
        let histories = oracle.history
        return try await engine.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            var last: [LogOracle.RowAddress: LoggedEvent] = [:]
            var links: [Int64: Int64] = [:]
            for event in try reader.events() {
                links[event.position] = event.previous
                last[LogOracle.RowAddress(entity: event.entity, key: event.key)] = event
            }
            var faults: [String] = []
            for (address, positions) in histories {
                var chain: [Int64] = []
                var position = last[address]?.position ?? 0
                while position > 0 {
                    chain.append(position)
                    position = links[position] ?? 0
                }
                if chain.reversed() != positions { faults.append("\(address): \(positions) became \(chain)") }
            }
            return faults
        }
    }

    private struct Look: Sendable {
        var dump: StoreDump
        var events: [LoggedEvent]
        var catalog: Catalog
    }

    private func look(after position: Int64) async throws -> Look {
        try await engine.withWriter { writer, _ in
            Look(
                dump: try writer.dump(), events: try LogReader(writer.database).events(position + 1...Int64.max),
                catalog: writer.catalog)
        }
    }

    // Savepoints by SQL nest, repeat names, and may stay open at the end.
    private mutating func makeSteps() -> [Step] {
        var steps: [Step] = []
        for _ in 0...generator.random.below(7) {
            switch generator.random.below(20) {
            case 0, 1: steps.append(.sql("SAVEPOINT s\(generator.random.below(2))"))
            case 2: steps.append(.sql("RELEASE s\(generator.random.below(2))"))
            case 3: steps.append(.sql("ROLLBACK TO s\(generator.random.below(2))"))
            case 4:
                let inner = (0...generator.random.below(3)).map { _ in generator.statement() }
                steps.append(.savepoint(inner, generator.random.pick([.commit, .rollback, .error])))
            case 5 where generator.random.chance(10): steps.append(.sql("ROLLBACK"))
            default: steps.append(.sql(generator.statement()))
            }
        }
        return steps
    }

    private static func run(_ steps: [Step], _ db: Database, stopsAtErrors: Bool) throws {
        for step in steps {
            do {
                switch step {
                case .sql(let sql): try db.execute(sql: sql)
                case .savepoint(let statements, let end):
                    try db.inSavepoint {
                        for sql in statements { try db.execute(sql: sql) }
                        if end == .error { throw Refusal() }
                        return end == .commit ? .commit : .rollback
                    }
                }
            } catch {
                if stopsAtErrors { throw error }
            }
        }
    }
}
