import Foundation
import GRDB
import StorageTesting

@testable import StorageLog

/// A store with what the other golden stores haven't: keys of several parts, parts that a later version may add to rows of the
/// log and to commits, and a row of the log between sealed ones that stays as it was written.
enum GoldenShapes {
    private static let table = """
        CREATE TABLE places(
          x TEXT NOT NULL, label TEXT, y INTEGER NOT NULL, z BLOB NOT NULL, height REAL, _position INTEGER NOT NULL DEFAULT 0,
          PRIMARY KEY (z, x, y)) STRICT
        """

    /// Tag 1,000 with three bytes and tag 1,002 with none: even ones, which may be skipped.
    static let parts: [UInt8] = [0xE8, 0x07, 3, 1, 2, 3, 0xEA, 0x07, 0]

    static func make(_ url: URL) async throws {
        let clock = ManualClock()
        var configuration = StorageConfig()
        (configuration.clock, configuration.segmentLength) = (clock, 8)
        (configuration.sealsInBackground, configuration.finalRowBytes) = (false, 1_500)
        let engine = try StorageEngine.open(path: url.path, configuration: configuration)
        _ = try await engine.commit(CommitMetadata(actor: "anna")) { writer, db in try enter(writer, db) }
        for round in 0..<12 {
            clock.advance(by: .seconds(1))
            _ = try await engine.commit(CommitMetadata(actor: "anna", reason: "round \(round)")) { _, db in
                try db.execute(sql: changes(round))
            }
            if round == 6 {
                _ = try await engine.commit(CommitMetadata(reason: "noise")) { _, db in
                    try db.execute(
                        sql: "INSERT INTO places(z, x, y, label) VALUES (x'FF', 'noise', 0, ?)", arguments: [noise])
                }
            }
            if round % 4 == 1 {
                // A row of the log to itself: a commit has the same parts wherever it lies.
                _ = try await engine.commit(CommitMetadata(reason: "parts")) { _, db in
                    try db.execute(sql: "UPDATE places SET label = 'parts' WHERE z = x'' AND x = 'é' AND y = \(round)")
                }
                try await engine.withWriter { writer, db in try addParts(writer, db) }
            }
            if round % 4 == 3 { try await engine.seal() }
        }
        try await engine.close()
    }

    /// Text that compresses to a half at best.
    private static let noise: String = {
        var state: UInt64 = 7
        return (0..<4_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return String(state >> 60, radix: 16)
        }.joined()
    }()

    /// Rows whose keys differ in one part only, and that come, change, go and come again.
    private static func changes(_ round: Int) -> String {
        """
        INSERT INTO places(z, x, y, label, height) VALUES
          (x'', 'é', \(round), 'first \(round)', 0.5), (x'', 'e\u{301}', \(round), NULL, -0.0), (x'00', 'é', \(round), '', 1e300);
        UPDATE places SET label = label || ' again', height = height * 2 WHERE y = \(round - 1);
        DELETE FROM places WHERE z = x'00' AND y = \(round - 2);
        INSERT INTO places(z, x, y) SELECT x'00', 'é', \(round - 3) WHERE \(round) > 3;
        """
    }

    private static func enter(_ writer: LogWriter, _ db: Database) throws {
        try db.execute(sql: table)
        var next = writer.catalog.nextId
        var entity = CatalogEntity(id: next, name: "places", stored: "places", columns: [])
        for row in try GRDB.Row.fetchAll(db, sql: "SELECT * FROM pragma_table_info('places')") {
            let column: String = row["name"]
            guard column != "_position" else { continue }
            next += 1
            entity.columns.append(
                CatalogColumn(
                    id: next, name: column, type: row["type"], keyOrdinal: row["pk"], required: row["notnull"]))
        }
        writer.record(entity)
        try writer.schemaChanged()
    }

    /// Writes the last row of the log again as a later version would, with parts of its own and some in its commits.
    private static func addParts(_ writer: LogWriter, _ db: Database) throws {
        guard let batch = try LogReader(writer.database).batch(containing: writer.head.position) else { return }
        let commits = batch.slices.map { slice in
            var slice = slice
            slice.info = CommitInfo(
                number: slice.info.number, time: slice.info.time, clock: slice.info.time - 7,
                metadata: slice.info.metadata, extensions: parts)
            return slice
        }
        let row = try batch.withView { view in
            try SegmentEncoder().encode(
                view, range: 0..<view.count, first: batch.header.first, commits: commits, extensions: parts, level: 3)
        }
        try writer.maintenance(db, changesSchema: false) {
            try db.execute(sql: "DELETE FROM storage_log WHERE position = ?", arguments: [row.header.first])
            try writer.insert(row)
        }
    }
}
