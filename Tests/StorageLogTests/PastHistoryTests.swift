import GRDB
import SchemaTestSupport
import StorageCore
import StorageHistory
import TestSupport
import Testing

@testable import StorageLog

/// The past of random histories in which rows, columns, types and tables change, held against states that were kept.
@Suite struct PastHistoryTests {
    private typealias State = NetDifferenceTests.State
    private typealias Cells = [UInt32: [[Cell]: [UInt32: Cell]]]

    /// Short histories come first, so that a fault is met in a small one.
    private static func commits(_ seed: UInt64, from base: UInt64) -> Int {
        min(8 + 13 * Int(seed - min(seed, base)), 60)
    }

    @Test("Every point is read as it was", arguments: TestSettings.seeds(5, from: 11_000))
    func everyPointAsItWas(seed: UInt64) async throws {
        let commits = Self.commits(seed, from: 11_000)
        let (engine, states) = try await NetDifferenceTests.history(seed, commits: commits, changesShapes: true)
        var random = SplitMix64(seed: seed)
        for _ in 0..<15 {
            let state = random.pick(states)
            try await engine.withWriter { writer, db in
                let name = "seed \(seed) @\(state.position)"
                let then = try MaterializedSnapshot(at: state.position, of: db, schema: .asRecorded)
                #expect(then.catalog == state.catalog, "\(name)")
                Self.compare(try Self.read(then, db), with: state.dump.cells, "\(name) then")
                let upcasts = Self.upcasts(writer.catalog)
                let now = try MaterializedSnapshot(at: state.position, of: db, schema: .current, upcasts: upcasts)
                let defaults = try Self.defaults(writer.catalog, db)
                let wanted = Self.cells(of: state, inTheShapeOf: writer.catalog, defaults)
                Self.compare(try Self.read(now, db), with: wanted, "\(name) now")
            }
        }
    }

    private static func read(_ past: MaterializedSnapshot, _ live: GRDB.Database) throws -> Cells {
        try past.read(past.catalog.live.map(\.name), from: live) { db in
            let connection = try db.connection
            return try StoreDump(reading: past.catalog.live, of: connection).cells
        }
    }

    private static func upcasts(_ catalog: Catalog) -> [String: Upcast] {
        let titles = catalog.entities.flatMap(\.columns).filter { $0.origin != 0 }.map(\.definition)
        return Dictionary(titles.map { ($0, HistoryGenerator.upcast($0)) }) { $1 }
    }

    /// What the tables of now declare for the columns that came when they were recreated.
    private static func defaults(_ catalog: Catalog, _ db: GRDB.Database) throws -> [UInt32: StorageValue] {
        var defaults: [UInt32: StorageValue] = [:]
        for entity in catalog.live {
            for column in try db.columns(in: entity.stored) {
                guard let id = entity.live.first(where: { $0.stored == column.name })?.id else { continue }
                switch column.defaultValueSQL {
                case "7": defaults[id] = 7
                case "'x'": defaults[id] = "x"
                default: break
                }
            }
        }
        return defaults
    }

    /// A state as the entities of another would hold it.
    private static func cells(
        of state: State, inTheShapeOf catalog: Catalog, _ defaults: [UInt32: StorageValue]
    ) -> Cells {
        var result: Cells = [:]
        for entity in catalog.live {
            let then = state.catalog.live.first { $0.id == entity.id }
            result[entity.id] = (then == nil ? [:] : state.dump[entity.id] ?? [:]).mapValues { row in
                func value(_ column: CatalogColumn) -> Cell {
                    if let cell = row.cells[column.id] { return cell }
                    guard column.origin != 0, let origin = entity.columns.first(where: { $0.id == column.origin })
                    else { return Cell(column.fallback == .null ? defaults[column.id] ?? .null : column.fallback) }
                    return Cell(HistoryGenerator.upcast(column.definition)(value(origin).exact.value))
                }
                let columns = entity.live.filter { $0.keyOrdinal == 0 }
                return Dictionary(uniqueKeysWithValues: columns.map { ($0.id, value($0)) })
            }
        }
        return result
    }

    // MARK: Taking back

    @Test("Reverting twice restores the state", arguments: TestSettings.seeds(6, from: 12_000))
    func revertingTwice(seed: UInt64) async throws {
        let engine = try TestStore.inMemory(segmentLength: [4, 16, 1_024][Int(seed % 3)])
        var generator = HistoryGenerator(seed: seed, changesShapes: true)
        for round in 0..<Self.commits(seed, from: 12_000) {
            let before = try await NetDifferenceTests.state(engine)
            guard let commit = try await engine.commit(generator.commit(), CommitMetadata()).commit else { continue }
            let after = try await NetDifferenceTests.state(engine)
            let name = "seed \(seed) commit \(commit)"
            if round % 13 == 12 { try await engine.seal() }
            let report: RevertReport
            do {
                report = try await engine.revert(commit, policy: .abort, metadata: CommitMetadata())
            } catch let error as StorageError {
                // Of what the schema has taken away nothing can be put back.
                #expect(before.catalog != after.catalog, "\(name): \(error)")
                #expect(error.code == .conflict || error.code == .notFound, "\(name): \(error)")
                try await Self.compare(engine, with: after.dump.cells, name)
                continue
            }
            if before.catalog == after.catalog { try await Self.compare(engine, with: before.dump.cells, name) }
            guard let again = report.receipt?.commit else { continue }
            _ = try await engine.revert(again, policy: .abort, metadata: CommitMetadata())
            try await Self.compare(engine, with: after.dump.cells, name)
        }
    }

    @Test("Undone and redone restores the state", arguments: TestSettings.seeds(6, from: 13_000))
    func undoneAndRedone(seed: UInt64) async throws {
        let commits = Self.commits(seed, from: 13_000)
        let (engine, states) = try await NetDifferenceTests.history(seed, commits: commits, changesShapes: true)
        var random = SplitMix64(seed: seed)
        for _ in 0..<4 {
            var undone: [Cells] = []
            for _ in 0...random.below(9) {
                let state = try await NetDifferenceTests.state(engine)
                do {
                    guard try await engine.undo(of: nil, policy: .abort, metadata: CommitMetadata()).receipt != nil
                    else { break }
                } catch let error as StorageError where [.conflict, .notFound].contains(error.code) {
                    break
                }
                undone.append(state.dump.cells)
            }
            for state in undone.reversed() {
                _ = try await engine.redo(of: nil, policy: .abort, metadata: CommitMetadata())
                try await Self.compare(engine, with: state, "seed \(seed)")
            }
        }
        try await Self.compare(engine, with: states.last?.dump.cells ?? [:], "seed \(seed)")
    }

    private static func compare(_ engine: StorageEngine, with wanted: Cells, _ name: String) async throws {
        compare(try await NetDifferenceTests.state(engine).dump.cells, with: wanted, name)
    }

    private static func compare(_ found: Cells, with wanted: Cells, _ name: String) {
        for entity in Set(found.keys).union(wanted.keys) {
            let (found, wanted) = (found[entity] ?? [:], wanted[entity] ?? [:])
            for key in Set(found.keys).union(wanted.keys) where found[key] != wanted[key] {
                Issue.record("\(name): \(entity) \(key) is \(found[key] ?? [:]), not \(wanted[key] ?? [:])")
            }
        }
    }
}
