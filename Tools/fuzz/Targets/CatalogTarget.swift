import Foundation
import GRDB
import StorageCore

@testable import StorageLog

/// Rows of the catalog, and positions in tables, that somebody has changed: the store is opened for writing, rows are changed, and the
/// log is read. A log that could be read before can be read afterwards.
///
/// The input is a list of changes: a row, a column, a kind of value, a length, and as many bytes.
struct CatalogTarget: FuzzTarget {
    static let name = "catalog"

    private let store: Data
    private let path: String
    private let columns: [(table: String, column: String)]

    init() throws {
        // In memory where there is a file system for it: thousands of stores are made.
        let parent =
            access("/dev/shm", W_OK) == 0
            ? URL(fileURLWithPath: "/dev/shm") : FileManager.default.temporaryDirectory
        let folder = parent.appendingPathComponent("storagekit-fuzz-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("catalog.sqlite").path
        try SeedStore.make(at: path).closeNow()
        let queue = try DatabaseQueue(path: path)
        columns =
            try queue.read { try $0.columns(in: "storage_catalog").map { ("storage_catalog", $0.name) } }
            + [("notes", "_position"), ("places", "_position"), ("storage_tombstone", "position")]
        // Everything in the one file.
        _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try queue.close()
        store = try Data(contentsOf: URL(fileURLWithPath: path))
    }

    func run(_ bytes: UnsafeRawBufferPointer) throws {
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        try store.write(to: URL(fileURLWithPath: path))
        try change(bytes)
        var configuration = StorageConfig()
        configuration.durability = .normal
        let engine = try StorageEngine.open(path: path, configuration: configuration)
        defer { engine.closeNow() }
        let wasReadable = (try? read(engine)) != nil
        for sql in [
            "INSERT INTO notes(id, text) VALUES (99, 'new')", "UPDATE places SET name = 'p'",
            "DELETE FROM notes WHERE id = 2",
            "DELETE FROM notes", "INSERT INTO notes(id, text) VALUES (1, 'again'), (3, 'again')",
        ] {
            // One that is refused says nothing of the next.
            try? engine.withWriterNow { writer, db in
                try writer.group(db) { _ = try writer.commit(CommitMetadata()) { try db.execute(sql: sql) } }
            }
        }
        do {
            try read(engine)
        } catch  where wasReadable {
            found("our own commits have made the log unreadable: \(error)")
        }
    }

    private func read(_ engine: StorageEngine) throws {
        try engine.readNow { db in
            let connection = try db.connection
            let reader = LogReader(connection)
            let catalog = try Catalog.load(connection)
            try reader.forEachBatch(in: 1...max(1, reader.head().position)) { batch in
                for index in 0..<batch.header.count { _ = batch.event(at: index, catalog: catalog) }
                return true
            }
        }
    }

    private func change(_ bytes: UnsafeRawBufferPointer) throws {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        try queue.writeWithoutTransaction { db in
            // Guards and rules are no obstacle to who has the file.
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            var rest = bytes[...]
            while rest.count >= 4 {
                let head = Array(rest.prefix(4))
                let content = rest.dropFirst(4).prefix(Int(head[3]))
                rest = rest.dropFirst(4 + Int(head[3]))
                let (table, column) = columns[Int(head[1]) % columns.count]
                let key = table == "storage_tombstone" ? "key" : "_rowid_"
                // What breaks a rule of the table itself can't come from a file that SQLite takes.
                try? db.execute(
                    sql: """
                        UPDATE \(table) SET "\(column)" = ?
                        WHERE \(key) = (SELECT \(key) FROM \(table) ORDER BY \(key) LIMIT 1 OFFSET ?)
                        """, arguments: [Self.value(head[2], Data(content)), Int(head[0]) % 24])
            }
        }
    }

    private static func value(_ kind: UInt8, _ bytes: Data) -> DatabaseValue {
        switch kind % 5 {
        case 0: .null
        case 1: bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }.databaseValue
        case 2: (Double(bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }) / 3).databaseValue
        case 3: String(decoding: bytes, as: UTF8.self).databaseValue
        default: bytes.databaseValue
        }
    }

    /// One change of each column of two rows.
    static func seeds() throws -> [String: [UInt8]] {
        var seeds: [String: [UInt8]] = [:]
        for column in UInt8(0)..<18 {
            seeds["number-\(column)"] = [2, column, 1, 1, 16, 3, column, 1, 1, 100]
            seeds["text-\(column)"] = [1, column, 3, 5] + Array("names".utf8)
        }
        return seeds
    }
}
