import GRDB
import SchemaTestSupport
import StorageCore
import StorageHistory
import StorageMaintenance
import TestSupport
import Testing

@testable import StorageLog

/// Tables that use all that SQLite allows, random statements, and after each commit what every row held, to which the log
/// is held: `verify`, the past in both schemas, rebuilds, and the revert of the last commits, whatever they were.
@Suite struct HostileSchemaTests {
    /// What the tables held after each commit, by the commit's last position, with the positions of their rows and without.
    private struct State: Equatable {
        var rows: [String: [String]]
        var positions: [String: [String]]
    }

    private static func state(_ db: Database, _ tables: [HostileTables.Table] = HostileTables.all) throws -> State {
        var state = State(rows: [:], positions: [:])
        for table in tables {
            let columns = table.columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")
            let key = table.key.map { "\($0) COLLATE BINARY, typeof(\($0))" }.joined(separator: ", ")
            let from = "FROM \(table.name) ORDER BY \(key)"
            state.rows[table.name] = try String.fetchAll(db, sql: "SELECT \(columns) \(from)")
            state.positions[table.name] = try String.fetchAll(
                db, sql: "SELECT \(columns) || '@' || _position \(from)")
        }
        return state
    }

    /// What one state has and another hasn't, table by table.
    private static func difference(_ found: [String: [String]], from expected: [String: [String]]) -> [String] {
        HostileTables.all.flatMap { table in
            (found[table.name] ?? []).difference(from: expected[table.name] ?? []).map { change in
                switch change {
                case .insert(_, let row, _): "\(table.name) has \(row)"
                case .remove(_, let row, _): "\(table.name) lacks \(row)"
                }
            }
        }
    }

    private func state(_ engine: StorageEngine) async throws -> State {
        try await engine.withWriter { _, db in try Self.state(db) }
    }

    private func findings(_ engine: StorageEngine) async throws -> [String] {
        try await engine.withWriter { writer, _ in
            var verifier = Verifier(writer.database)
            return try verifier.run().findings.map { "\($0)" }
        }
    }

    @Test("The log holds what the tables held", arguments: TestSettings.seeds(3, from: 1))
    func logEqualsTables(seed: UInt64) async throws {
        var generator = HostileStatements(seed: seed)
        let engine = try TestStore.inMemory(segmentLength: generator.random.pick([4, 16, 1_024]))
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            for table in HostileTables.all { try writer.adopt(db, table.name, table.sql) }
            try db.execute(sql: HostileTables.triggers)
        }
        var states = [
            (number: engine.committed.commit, position: engine.committed.position, state: try await state(engine))
        ]
        for round in 0..<60 {
            let statements = generator.commit()
            // A commit that the schema refuses leaves everything as it was.
            _ = try? await engine.commit(CommitMetadata()) { _, db in
                for statement in statements { try? db.execute(sql: statement) }
            }
            let now = try await state(engine)
            if engine.committed.commit == states.last?.number {
                #expect(
                    Self.difference(now.positions, from: states.last?.state.positions ?? [:]) == [],
                    "seed \(seed), round \(round): \(statements)")
                continue
            }
            states.append((engine.committed.commit, engine.committed.position, now))
            if generator.random.chance(30) {
                let first = generator.random.pick(Array(states.indices.dropFirst().suffix(5)))
                try await expectRevert(of: first, states, engine, "seed \(seed), round \(round)")
                states.append((engine.committed.commit, engine.committed.position, try await state(engine)))
            }
        }
        #expect(try await findings(engine) == [], "seed \(seed)")
        for _ in 0..<6 {
            let (_, position, state) = generator.random.pick(states)
            for schema in [SnapshotSchema.current, .asRecorded] {
                let past = try await engine.read { db in
                    try MaterializedSnapshot(at: position, of: db, schema: schema).read(
                        HostileTables.all.map(\.name), from: db
                    ) {
                        try Self.state($0)
                    }
                }
                #expect(
                    Self.difference(past.positions, from: state.positions) == [],
                    "seed \(seed), @\(position), \(schema)")
            }
        }
        var pace = Rebuild.Pace()
        pace.limit = generator.random.pick([1, 7, Int.max])
        pace.collects = generator.random.chance(70)
        pace.sorts = generator.random.chance(50)
        pace.memory = generator.random.pick([1, 2_000, 2 << 20])
        _ = try await Rebuild(engine, pace: pace).run()
        let rebuilt = try await state(engine).positions
        #expect(Self.difference(rebuilt, from: states.last?.state.positions ?? [:]) == [], "seed \(seed)")
        #expect(try await findings(engine) == [], "seed \(seed)")
    }

    /// Nothing came since, so nothing can be in the way: neither of the revert nor of the revert of it.
    private func expectRevert(
        of first: Int, _ states: [(number: Int64, position: Int64, state: State)], _ engine: StorageEngine,
        _ comment: Comment
    ) async throws {
        let range = states[first - 1].number + 1...engine.committed.commit
        do {
            let report = try await engine.revert(range, policy: .abort, metadata: CommitMetadata())
            let left = try await state(engine).rows
            #expect(
                Self.difference(left, from: states[first - 1].state.rows) == [], "\(comment), commits \(range)")
            guard let number = report.receipt?.commit, generator(number) else { return }
            _ = try await engine.revert(number, policy: .abort, metadata: CommitMetadata())
            let again = try await state(engine).rows
            #expect(Self.difference(again, from: states.last?.state.rows ?? [:]) == [], "\(comment), commit \(number)")
        } catch let error as StorageError where error.code != .notFound {
            Issue.record("\(comment), commits \(range): \(error)")
        }
    }

    private func generator(_ number: Int64) -> Bool { number % 2 == 0 }
}
