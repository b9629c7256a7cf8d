import CSQLite
import Foundation
import GRDB
import StorageCore
import Testing

@testable import StorageLog

/// The checks that the writer makes of itself. Each is broken on purpose here: the group ends with an error, nothing is
/// changed, and the store is out of use until it is opened again.
@Suite struct TransactionInvariantTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func open() async throws -> StorageEngine {
        var configuration = TestStore.configuration()
        configuration.sealsInBackground = false
        return try .open(path: folder.path(), configuration: configuration)
    }

    private func openWithTable() async throws -> StorageEngine {
        let engine = try await open()
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO t(id, v) VALUES (1, 'kept')")
        return engine
    }

    /// Breaks something inside or before a commit, and looks at what is left.
    private func breach(
        _ sabotage: @escaping @Sendable (LogWriter, Database) throws -> Void,
        before: @escaping @Sendable (LogWriter, Database) throws -> Void = { _, _ in }
    ) async throws {
        let engine = try await openWithTable()
        let head = engine.committed
        try await engine.withWriter { writer, db in try before(writer, db) }
        let error = await code {
            try await engine.commit(CommitMetadata()) { writer, db in
                try db.execute(sql: "INSERT INTO t(id, v) VALUES (2, 'lost')")
                try sabotage(writer, db)
            }
        }
        #expect(error == .failed)
        #expect(await code { try await engine.commit("INSERT INTO t(id) VALUES (3)") } == .failed)
        try await engine.close()
        let again = try await open()
        #expect(again.committed == head)
        #expect(try await again.integer("SELECT count(*) FROM t") == 1)
        try await again.commit("INSERT INTO t(id) VALUES (4)")
        try await again.close()
    }

    @Test func rowsThatWereChangedBetweenTransactions() async throws {
        try await breach({ _, _ in }) { writer, db in
            // The bar is lifted as only the engine can.
            storage_capture_begin(writer.capture)
            try db.execute(sql: "BEGIN; INSERT INTO t(id, v) VALUES (9, 'stray')")
            storage_capture_end(writer.capture)
            #expect(storage_capture_count(writer.capture) == 1)
            try db.execute(sql: "ROLLBACK")
        }
    }

    @Test func aHookThatWasReplaced() async throws {
        try await breach({ _, _ in }) { writer, _ in sqlite3_preupdate_hook(writer.database, nil, nil) }
    }

    @Test func aHookThatIsReplacedInsideOfACommit() async throws {
        try await breach { writer, db in
            sqlite3_preupdate_hook(writer.database, nil, nil)
            try db.execute(sql: "INSERT INTO t(id, v) VALUES (5, 'unseen')")
        }
    }

    @Test func anEndOfTheLogThatIsNotTheWritersOwn() async throws {
        try await breach({ _, _ in }) { writer, _ in writer.head.position += 1 }
    }

    @Test func commitsThatDoNotCoverTheirEvents() async throws {
        try await breach { writer, _ in
            let info = CommitInfo(number: 1, time: 1, metadata: CommitMetadata())
            writer.open.append((info, 3..<4))
        }
    }

    /// What a savepoint takes back doesn't take an error back that happened before it.
    @Test func anErrorOfCaptureOutlivesLaterSavepoints() async throws {
        for undone in ["SAVEPOINT a; ROLLBACK TO a; RELEASE a", "INSERT INTO d(id) SELECT 100 UNION ALL SELECT 100"] {
            var database: OpaquePointer?
            #expect(sqlite3_open(":memory:", &database) == SQLITE_OK)
            defer { sqlite3_close(database) }
            let capture = try #require(
                storage_capture_create(database, storage_limits(value_bytes: 99, commit_bytes: 999, commit_events: 10)))
            defer { storage_capture_destroy(capture) }
            func run(_ sql: String) -> Int32 { sqlite3_exec(database, sql, nil, nil, nil) }
            #expect(run("CREATE TABLE d(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)") == SQLITE_OK)
            var definitions = CaptureDefinitions()
            let found = try FoundSchema(try #require(database)).tables
            let entity = CatalogEntity(
                id: 90, name: "d", stored: "d",
                columns: [CatalogColumn(id: 91, name: "id", type: "INTEGER", keyPlace: 1, required: true)])
            definitions.add(entity, try #require(found["d".folded]), unfilled: [])
            try definitions.install(in: capture)

            storage_capture_begin(capture)
            #expect(run("BEGIN; INSERT INTO storage_sentinel VALUES (1); SAVEPOINT storage_commit") == SQLITE_OK)
            storage_capture_begin_body(capture, nil)
            for id in 0..<12 { #expect(run("INSERT INTO d(id) VALUES (\(id))") == SQLITE_OK) }
            var (entityId, column): (UInt32, UInt32) = (0, 0)
            #expect(storage_capture_error(capture, &entityId, &column) == Int32(STORAGE_CAPTURE_COMMIT_TOO_LARGE))
            _ = run(undone)
            #expect(storage_capture_error(capture, &entityId, &column) == Int32(STORAGE_CAPTURE_COMMIT_TOO_LARGE))
            // Undone with what caused it, the error is gone as well.
            #expect(run("ROLLBACK TO storage_commit") == SQLITE_OK)
            #expect(storage_capture_error(capture, &entityId, &column) == Int32(STORAGE_CAPTURE_OK))
            // The sentinel of an open transaction needs the capture.
            #expect(run("ROLLBACK") == SQLITE_OK)
        }
    }
}
