import Foundation
import GRDB
import StorageCore

@testable import StorageLog

/// A small store with what a log can hold: several entities, all kinds of values, updates, deletes, composite keys, a change of
/// the schema, metadata, sealed runs.
enum SeedStore {
    private static let tables = [
        (
            "notes",
            """
            CREATE TABLE notes(
              id INTEGER PRIMARY KEY, text TEXT, score REAL, data BLOB, _position INTEGER NOT NULL DEFAULT 0)
            """
        ),
        (
            "places",
            """
            CREATE TABLE places(
              x TEXT NOT NULL, y INTEGER NOT NULL, name TEXT COLLATE NOCASE, _position INTEGER NOT NULL DEFAULT 0,
              PRIMARY KEY (x, y))
            """
        ),
    ]

    static func make(at path: String) throws -> StorageEngine {
        var configuration = StorageConfig()
        configuration.durability = .normal
        configuration.segmentLength = 16
        let engine =
            path == ":memory:"
            ? try StorageEngine.openInMemory(configuration: configuration)
            : try StorageEngine.open(path: path, configuration: configuration)
        try engine.withWriterNow { writer, db in
            func commit(_ sql: String, _ metadata: CommitMetadata = CommitMetadata()) throws {
                try writer.group(db) { _ = try writer.commit(metadata) { try db.execute(sql: sql) } }
            }
            for (name, sql) in tables {
                try writer.group(db) {
                    _ = try writer.commit(CommitMetadata()) { try enter(name, sql, writer, db) }
                }
            }
            for number in 0..<12 {
                try commit(
                    """
                    INSERT INTO notes(id, text, score, data) VALUES (\(number), 'note \(number)', \(Double(number) / 3), x'00ff');
                    INSERT INTO places(x, y, name) VALUES ('x\(number % 3)', \(number), NULL);
                    """, CommitMetadata(actor: "anna", reason: "seed \(number)", attributes: ["n": "\(number)"]))
            }
            try commit("UPDATE notes SET text = text || '!', score = NULL WHERE id < 6")
            try commit("ALTER TABLE notes ADD COLUMN extra TEXT DEFAULT 'none'; DELETE FROM places WHERE y > 7")
            while let run = try writer.nextSealingRun(),
                let merged = try SegmentMerge(run, from: writer.database, configuration)
            {
                try writer.exchange(merged, db)
            }
        }
        return engine
    }

    /// Makes a table and enters it in the catalog, as the declaration of an entity would.
    private static func enter(_ name: String, _ sql: String, _ writer: LogWriter, _ db: GRDB.Database) throws {
        try db.execute(sql: sql)
        var next = writer.catalog.nextId
        var entity = CatalogEntity(id: next, name: name, stored: name, columns: [])
        for row in try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_info(?)", arguments: [name]) {
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

    /// All rows of a query.
    static func rows(_ db: GRDB.Database, _ sql: String) throws -> [[StorageValue]] {
        try Row.fetchAll(db, sql: sql).map { row in
            row.databaseValues.map { value in
                switch value.storage {
                case .null: .null
                case .int64(let number): .integer(number)
                case .double(let number): .real(number)
                case .string(let text): .text(text)
                case .blob(let data): .blob(data)
                }
            }
        }
    }
}
