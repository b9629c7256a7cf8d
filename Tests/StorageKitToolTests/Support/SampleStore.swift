import Foundation
import GRDB
import StorageCore
import TestSupport

@testable import StorageLog

/// A clock that stands still.
struct StillClock: StorageClock {
    let microseconds: Int64
    var now: Date { Date(microseconds: microseconds) }
}

/// A store with every kind of table, key and value that the tool shows, always the same to the byte.
final class SampleStore: Sendable {
    let folder: TemporaryFolder
    var path: String { folder.path() }

    /// Made once: nothing that reads it changes it.
    static let shared = Task { try await SampleStore(segmentLength: nil) }

    /// 2024-05-01T10:00:00Z
    static let start: Int64 = 1_714_557_600_000_000
    private static let hour: Int64 = 3_600_000_000

    /// A copy of the shared one.
    convenience init() async throws { try self.init(copying: try await Self.shared.value) }

    /// - Parameter original: Is a single file as long as nobody has it open.
    init(copying original: SampleStore) throws {
        folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: original.path, toPath: folder.path())
    }

    /// - Parameter segmentLength: nil for the usual one.
    init(segmentLength: Int?) async throws {
        folder = try TemporaryFolder()
        let engine = try Self.open(folder.path(), segmentLength: segmentLength)
        try await Self.fill(engine)
        try await engine.close()
    }

    static func open(_ path: String, segmentLength: Int? = nil) throws -> StorageEngine {
        var configuration = StorageConfig()
        configuration.clock = StillClock(microseconds: start)
        configuration.sealsInBackground = false
        if let segmentLength { configuration.segmentLength = segmentLength }
        return try StorageEngine.open(path: path, configuration: configuration)
    }

    private static func fill(_ engine: StorageEngine) async throws {
        _ = try await engine.commit(CommitMetadata(app: "setup"), at: start) { writer, db in
            try writer.adopt(
                db, "posts",
                """
                CREATE TABLE "posts" (
                  id TEXT NOT NULL PRIMARY KEY, title TEXT, views INTEGER, score REAL, draft BOOLEAN, body BLOB,
                  _position INTEGER NOT NULL DEFAULT 0)
                """)
            try writer.adopt(
                db, "users",
                #"CREATE TABLE "users" (id INTEGER PRIMARY KEY, name TEXT, _position INTEGER NOT NULL DEFAULT 0)"#)
            try writer.adopt(
                db, "seats",
                """
                CREATE TABLE "seats" (
                  row TEXT NOT NULL, place INTEGER NOT NULL, guest TEXT, _position INTEGER NOT NULL DEFAULT 0,
                  PRIMARY KEY (row, place))
                """)
        }
        let steps: [(hours: Int64, metadata: CommitMetadata, sql: String)] = [
            (
                1, CommitMetadata(actor: "anna", app: "web 3.1", reason: "first post"),
                """
                INSERT INTO posts(id, title, views, score, draft, body) VALUES ('a/1', 'Hello', 0, 1.5, 1, x'00ff');
                INSERT INTO posts(id, title, views) VALUES ('b', '42', NULL);
                INSERT INTO users(id, name) VALUES (7, 'Anna');
                """
            ),
            (
                28,
                CommitMetadata(
                    actor: "ben", reason: "customer called", correlation: "req-9", idempotencyKey: "k1",
                    attributes: ["ticket": "T-5", "channel": "phone"]),
                "UPDATE posts SET title = 'Hello, world', draft = 0, score = 9e999 WHERE id = 'a/1'"
            ),
            (
                30, CommitMetadata(actor: "anna"),
                """
                INSERT INTO seats(row, place, guest) VALUES ('A', 1, 'zoë'), ('A', 2, NULL);
                UPDATE posts SET views = 10, body = NULL WHERE id = 'a/1';
                """
            ),
            (31, CommitMetadata(), "DELETE FROM posts WHERE id = 'b'; UPDATE users SET name = 'Anna B.' WHERE id = 7"),
            (
                52, CommitMetadata(actor: "import", app: "etl"),
                "INSERT INTO posts(id, title) VALUES ('b', 'again' || char(10) || 'and | again')"
            ),
        ]
        for step in steps {
            _ = try await engine.commit(step.metadata, at: start + step.hours * hour) { _, db in
                try db.execute(sql: step.sql)
            }
        }
        _ = try await engine.commit(CommitMetadata(app: "setup"), at: start + 60 * hour) { writer, db in
            try writer.adopt(
                db, "unused", #"CREATE TABLE "unused" (id TEXT PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)"#)
        }
    }
}

extension SampleStore {
    /// Changes tables as a foreign program could, past the log.
    func damage(_ sql: String) throws { try folder.edit(sql) }
}

extension TemporaryFolder {
    /// Changes the store in it past the log.
    func edit(_ sql: String) throws {
        let queue = try DatabaseQueue(path: path())
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }
}

extension LogWriter {
    /// Makes a table by SQL and enters it in the catalog as the declaration of an entity would.
    func adopt(_ db: Database, _ name: String, _ sql: String) throws {
        try db.execute(sql: sql)
        var next = catalog.nextId
        var entity = CatalogEntity(id: next, name: name, stored: name, columns: [])
        for row in try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_info(?)", arguments: [name]) {
            let column: String = row["name"]
            guard column != "_position" else { continue }
            next += 1
            entity.columns.append(
                CatalogColumn(
                    id: next, name: column, type: row["type"], keyOrdinal: row["pk"], required: row["notnull"]))
        }
        record(entity)
        try schemaChanged()
    }
}
