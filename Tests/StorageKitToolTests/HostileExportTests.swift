import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import StorageLog
import TestSupport
import Testing

/// Tables that use all that SQLite allows, and random statements: what `export` writes leads to what the tables held behind each commit.
struct HostileExportTests {
    /// Values of columns as SQL literals, which tell kinds apart. NULLs are left out.
    private typealias Row = [String: String]
    private typealias Tables = [String: Set<Row>]

    @Test("Operations lead to what the tables held", arguments: 1...UInt64(3))
    func operationsEqualTables(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var generator = HostileStatements(seed: seed)
        var configuration = StorageConfig()
        configuration.segmentLength = generator.random.pick([4, 16, 1_024])
        let engine = try StorageEngine.open(path: folder.path(), configuration: configuration)
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            for table in HostileTables.all { try writer.adopt(db, table.name, table.sql) }
            try db.execute(sql: HostileTables.triggers)
        }
        var states: [Int64: Tables] = [:]
        for _ in 0..<60 {
            let statements = generator.commit()
            // The schema may refuse it.
            _ = try? await engine.commit(CommitMetadata()) { _, db in
                for statement in statements { try? db.execute(sql: statement) }
            }
            states[engine.committed.commit] = try await engine.withWriter { _, db in try Self.tables(db) }
        }
        let exported = try ToolProcess.run(["export"], store: folder.path())
        #expect(exported.status == 0, "\(exported.errors)")
        try await engine.close()
        let (compared, ambiguous) = try expectStates(
            states, from: exported.output.split(separator: "\n").map(String.init), "seed \(seed)")
        #expect(compared > 20, "seed \(seed)")
        #expect(ambiguous < compared, "seed \(seed)")
    }

    private static func tables(_ db: Database) throws -> Tables {
        var tables: Tables = [:]
        for table in HostileTables.all {
            let columns = table.columns.map { "quote(\($0)) AS \($0)" }.joined(separator: ", ")
            let rows = try GRDB.Row.fetchAll(db, sql: "SELECT \(columns) FROM \(table.name)").map { row in
                Row(uniqueKeysWithValues: table.columns.map { ($0, row[$0] as String) }).filter { $0.value != "NULL" }
            }
            tables[table.name] = Set(rows)
        }
        return tables
    }

    /// Applies operations, and compares what they lead to behind each commit.
    ///
    /// - Returns: How many tables were compared, and how many weren't, because a deletion may have meant either of two rows:
    ///   keys that differ in their kind alone have one `id`.
    private func expectStates(
        _ states: [Int64: Tables], from lines: [String], _ comment: Comment
    ) throws -> (compared: Int, ambiguous: Int) {
        let parser = try DatabaseQueue()
        var rows: [String: [String: Set<Row>]] = [:]
        var unknown: Set<String> = []
        var counts = (compared: 0, ambiguous: 0)
        for (index, line) in lines.enumerated() {
            let operation = try Operation(line, parser)
            let table = try #require(HostileTables.all.first { $0.name == operation.table })
            var same = rows[operation.table]?[operation.id] ?? []
            if let row = operation.row {
                same = same.filter { known in table.key.contains { known[$0] != row[$0] } }
                // A key that is spelled otherwise is the same one, unless it may be of several kinds.
                rows[operation.table, default: [:]][operation.id] = table.name == "tally" ? same.union([row]) : [row]
            } else {
                if same.count > 1 { unknown.insert(operation.table) }
                rows[operation.table]?[operation.id] = nil
            }
            let isLast = try index == lines.count - 1 || Operation(lines[index + 1], parser).commit != operation.commit
            guard isLast, let state = states[operation.commit] else { continue }
            for table in HostileTables.all {
                guard !unknown.contains(table.name) else {
                    counts.ambiguous += 1
                    continue
                }
                let found = Set((rows[table.name] ?? [:]).values.flatMap(\.self))
                #expect(found == state[table.name], "\(comment), commit \(operation.commit), \(table.name)")
                counts.compared += 1
            }
        }
        return counts
    }

    private struct Operation {
        let commit: Int64
        let table: String
        let id: String
        let row: Row?

        init(_ line: String, _ parser: DatabaseQueue) throws {
            let parts = try parser.read { db in
                let fields = try GRDB.Row.fetchAll(
                    db, sql: "SELECT key, type, quote(atom) AS value, atom FROM json_each(?)", arguments: [line])
                let row = try GRDB.Row.fetchAll(
                    db,
                    sql: """
                        SELECT key, type, quote(atom) AS value, CASE type WHEN 'object' THEN value ->> '$."$blob"' END AS blob
                        FROM json_each(?, '$.row') WHERE ?1 ->> '$.row' IS NOT NULL
                        """, arguments: [line])
                return (fields, row)
            }
            var fields: [String: GRDB.Row] = [:]
            for field in parts.0 { fields[field["key"]] = field }
            commit = try #require(fields["tx"])["atom"]
            table = try #require(fields["table"])["atom"]
            id = try #require(fields["id"])["atom"]
            guard try #require(fields["row"])["type"] != "null" else {
                row = nil
                return
            }
            row = try Row(
                uniqueKeysWithValues: parts.1.map { field in
                    guard let blob: String = field["blob"] else { return (field["key"], field["value"]) }
                    let bytes = try #require(Data(base64Encoded: blob))
                    return (field["key"], "X'\(bytes.map { String(format: "%02X", $0) }.joined())'")
                })
        }
    }
}
