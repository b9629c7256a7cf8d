import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import StorageRecords
import TestSupport
import Testing

@testable import StorageLog

/// Sealing at the sizes that it was made for: the log says what it said before, the writer is held for moments, and memory stays bounded.
///
/// Alone and whole, with limits for times and memory:
/// `STORAGEKIT_HISTORIES=FOLDER swift test --filter SealingScaleTests`.
@Suite(.serialized) struct SealingScaleTests {
    private static let isWhole = !HistoryFile.outside.isEmpty

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("Real histories", arguments: HistoryFile.all)
    func realHistory(_ history: HistoryFile) async throws {
        let changes = try history.changes(limit: Self.isWhole ? .max : 2_000)
        try #require(!changes.isEmpty, "The history can't be read.")
        let tables = Dictionary(grouping: changes, by: \.table).mapValues { changes in
            Set(changes.flatMap { $0.row.map { Array($0.keys) } ?? [] }).sorted()
        }
        try await fill { engine in
            for (table, columns) in tables {
                let definitions = columns.map { ", " + quoted("c_" + $0) }.joined()
                try await engine.adopt(
                    table,
                    "CREATE TABLE \(quoted(table))(key TEXT PRIMARY KEY\(definitions), _position NOT NULL DEFAULT 0)"
                )
            }
            var next = 0
            while next < changes.count {
                let first = next
                while next < changes.count, changes[next].transaction == changes[first].transaction { next += 1 }
                let transaction = changes[first..<next].map { Self.statement($0) }
                _ = try await engine.commit(CommitMetadata()) { _, db in
                    for (sql, arguments) in transaction {
                        try db.cachedStatement(sql: sql).execute(arguments: arguments)
                    }
                }
            }
        }
        try await expectSealing("\(history)")
    }

    /// Rows of 5 MB, which compress well or not at all, and commits with all the attributes that there may be.
    @Test("Documents and attributes at their limits")
    func documentsAtLimits() async throws {
        var random = SplitMix64(seed: 5)
        let noise = (0..<5_000_000 / 8).map { _ in random.next() }.withUnsafeBytes { Data($0) }
        let attributes = (0..<Limits.attributes).map {
            ("a\($0)", String(repeating: "\($0) ", count: Limits.metadataBytes).prefix(Limits.metadataBytes))
        }
        try await fill(segmentLength: 4) { engine in
            try await engine.adopt(
                "documents", "CREATE TABLE documents(id INTEGER PRIMARY KEY, body, _position NOT NULL DEFAULT 0)")
            for id in 0..<(Self.isWhole ? 200 : 6) {
                let body: DatabaseValue =
                    id % 2 == 0
                    ? String(repeating: "document \(id) ", count: 400_000).databaseValue : noise.databaseValue
                var metadata = CommitMetadata()
                if id % 10 == 5 {
                    metadata.attributes = Dictionary(uniqueKeysWithValues: attributes.map { ($0, String($1)) })
                }
                _ = try await engine.commit(metadata) { _, db in
                    try db.execute(sql: "INSERT INTO documents(id, body) VALUES (?, ?)", arguments: [id, body])
                }
            }
            // And two that are as long as a whole segment is otherwise.
            for (id, part) in [(1_000, "document "), (1_001, "\u{00e9}")] {
                let body = String(repeating: part, count: 20_000_000 / part.utf8.count)
                _ = try await engine.commit(CommitMetadata()) { _, db in
                    try db.execute(sql: "INSERT INTO documents(id, body) VALUES (?, ?)", arguments: [id, body])
                }
            }
        }
        try await expectSealing("documents of 5 and 20 MB", segmentLength: 4)
    }

    // MARK: Filling

    private func open(
        _ durability: StorageConfig.Durability, _ segmentLength: Int?
    ) throws -> StorageEngine {
        var configuration = TestStore.configuration(segmentLength: segmentLength)
        (configuration.durability, configuration.sealsInBackground) = (durability, false)
        return try StorageEngine.open(path: folder.path(), configuration: configuration)
    }

    private func fill(segmentLength: Int? = nil, _ body: (StorageEngine) async throws -> Void) async throws {
        let engine = try open(.normal, segmentLength)
        try await body(engine)
        try await engine.close()
    }

    private static func statement(_ change: HistoryFile.Change) -> (sql: String, arguments: StatementArguments) {
        let table = quoted(change.table)
        guard let row = change.row else { return ("DELETE FROM \(table) WHERE key = ?", [change.id]) }
        let names = row.keys.sorted()
        let columns = ["key"] + names.map { quoted("c_" + $0) }
        let sets = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let placeholders = columns.map { _ in "?" }.joined(separator: ", ")
        return (
            """
            INSERT INTO \(table)(\(columns.joined(separator: ", "))) VALUES (\(placeholders))
            ON CONFLICT DO UPDATE SET \(sets)
            """,
            StatementArguments([change.id.databaseValue] + names.map { value(row[$0]) })
        )
    }

    private static func value(_ value: Any?) -> DatabaseValue {
        switch value {
        case let text as String: text.databaseValue
        case let number as Int: number.databaseValue
        case let number as Double: number.databaseValue
        case nil, is NSNull: .null
        default: "\(value ?? "")".databaseValue
        }
    }

    // MARK: What must hold

    private func expectSealing(_ name: String, segmentLength: Int? = nil) async throws {
        let engine = try open(.full, segmentLength)
        let (before, sizeBefore) = try await state(engine)
        let resident = ProcessMemory.restartPeak()
        let start = ContinuousClock.now
        try await engine.seal()
        let time = ContinuousClock.now - start
        let peak = (ProcessMemory.peak - resident) / 1_000_000
        let (after, size) = try await state(engine)
        #expect(before == after)
        let work = engine.sealingWork
        if Self.isWhole {
            print(
                "\(name): \(before.events) events, \(sizeBefore) to \(size) bytes of bodies in \(time), \(work.runs) runs,",
                "the writer held for \(work.longestHold) at the longest, \(peak) MB at the peak")
            #expect(work.runs > 0)
            #expect(work.longestHold < .milliseconds(20))
            #expect(peak < 150)
        }
        try await engine.close()
    }

    private struct State: Equatable {
        var events = 0
        var hash = 0
    }

    /// All that the log says, and the bytes of its bodies.
    private func state(_ engine: StorageEngine) async throws -> (State, Int64) {
        let state = try await engine.withWriter { writer, _ in
            var (events, hasher) = (0, Hasher())
            try LogReader(writer.database).forEachBatch(in: 1...Int64.max) { batch in
                for event in batch.logged {
                    events += 1
                    hasher.combine(event.position)
                    hasher.combine(event.commit.number)
                    hasher.combine(event.commit.time)
                    hasher.combine(event.commit.metadata.attributes)
                    hasher.combine(event.entity)
                    hasher.combine(event.operation)
                    hasher.combine(event.key)
                    hasher.combine(event.columns)
                    hasher.combine(event.old)
                    hasher.combine(event.new)
                    hasher.combine(event.previous)
                }
                return true
            }
            return State(events: events, hash: hasher.finalize())
        }
        return (state, try await engine.integer("SELECT sum(length(body)) FROM storage_log") ?? 0)
    }
}
