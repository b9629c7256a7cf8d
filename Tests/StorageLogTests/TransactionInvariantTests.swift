import CSQLite
import CZstd
import Foundation
import GRDB
import StorageCore
import Synchronization
import TestSupport
import Testing

@testable import StorageLog

/// The checks that the writer makes of itself. Each is broken on purpose here: the group ends with an error, nothing is
/// changed, and the store is out of use until it is opened again.
@Suite struct TransactionInvariantTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ change: (inout StorageConfig) -> Void = { _ in }) async throws -> StorageEngine {
        var configuration = TestStore.configuration()
        configuration.sealsInBackground = false
        change(&configuration)
        return try .open(path: folder.path(), configuration: configuration)
    }

    private func openWithTable(
        _ change: (inout StorageConfig) -> Void = { _ in }
    ) async throws -> StorageEngine {
        let engine = try await open(change)
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
        #expect(error == .unusable)
        try await expectOutOfUse(engine, head: head, rows: 1)
    }

    /// The store is out of use, and holds this once it is opened again.
    private func expectOutOfUse(_ engine: StorageEngine, head: LogHead, rows: Int64) async throws {
        #expect(await code { try await engine.commit("INSERT INTO t(id) VALUES (3)") } == .unusable)
        try await engine.close()
        let again = try await open()
        #expect(again.committed == head)
        #expect(try await again.integer("SELECT count(*) FROM t") == rows)
        try await again.commit("INSERT INTO t(id) VALUES (400)")
        try await again.close()
    }

    /// The commit is durable by then: all that can be done is to go no further.
    @Test("Rows that are changed after the end of a transaction")
    func changeAfterTransaction() async throws {
        let engine = try await openWithTable()
        let error = await #expect(throws: StorageError.self) {
            try await engine.commit(CommitMetadata()) { writer, db in
                try db.execute(sql: "INSERT INTO t(id, v) VALUES (2, 'durable')")
                // Sound as `nonisolated(unsafe)`: the closure runs at the end of this transaction, on the writer's own queue.
                nonisolated(unsafe) let capture = writer.capture
                db.afterNextTransaction { db in
                    // The bar is lifted as only the engine can.
                    storage_capture_begin(capture)
                    #expect(throws: Never.self) {
                        try db.execute(sql: "BEGIN; INSERT INTO t(id, v) VALUES (9, 'stray'); ROLLBACK")
                    }
                    storage_capture_end(capture)
                }
            }
        }
        #expect(error?.code == .unusable)
        #expect(error?.message.contains("committed before is kept") == true)
        let head = LogHead(position: engine.committed.position + 1, commit: engine.committed.commit + 1)
        #expect(await code { try await engine.commit("INSERT INTO t(id) VALUES (3)") } == .unusable)
        try await engine.close()
        let again = try await open()
        #expect(again.committed.position == head.position)
        #expect(again.committed.commit == head.commit)
        #expect(try await again.integer("SELECT count(*) FROM t") == 2)
        try await again.close()
    }

    @Test("A buffer that isn't back at its mark after an undo")
    func bufferNotAtMark() async throws {
        struct Refusal: Error {}
        let engine = try await openWithTable()
        let head = engine.committed
        let error = await code {
            try await engine.withWriter { writer, db in
                try writer.group(db) {
                    _ = try writer.commit(CommitMetadata()) {
                        try db.execute(sql: "INSERT INTO t(id, v) VALUES (2, 'lost')")
                    }
                    _ = try? writer.commit(CommitMetadata()) {
                        try db.execute(sql: "INSERT INTO t(id, v) VALUES (3, 'lost')")
                        throw Refusal()
                    }
                    #expect(storage_capture_count(writer.capture) == 1)
                    _ = try writer.commit(CommitMetadata()) {
                        storage_capture_reset(writer.capture)
                        throw Refusal()
                    }
                }
            }
        }
        #expect(error == .unusable)
        try await expectOutOfUse(engine, head: head, rows: 1)
    }

    @Test("A sealed segment that doesn't decode to what was sealed")
    func sealedSegmentDecodesDifferently() async throws {
        let engine = try await openWithTable {
            $0.segmentLength = 16
            $0.sealedBody = { body in
                let size = Int(ZSTD_getFrameContentSize(body, body.count))
                var plain = [UInt8](repeating: 0, count: size)
                guard ZSTD_decompress(&plain, size, body, body.count) == size,
                    let place = plain.firstRange(of: Array("kept".utf8))
                else { return body }
                plain[place.lowerBound] = UInt8(ascii: "w")
                return (try? CraftedRow.packed(plain)) ?? body
            }
        }
        for id in 10..<40 { try await engine.commit("INSERT INTO t(id, v) VALUES (\(id), 'kept')") }
        let head = engine.committed
        let error = await #expect(throws: StorageError.self) { try await engine.seal() }
        #expect(error?.code == .unusable)
        #expect(error?.message.contains("don't decode to what was sealed") == true)
        try await expectOutOfUse(engine, head: head, rows: 31)
        let again = try await open { $0.segmentLength = 16 }
        #expect(try await again.integer("SELECT count(*) FROM storage_log WHERE sealed") == 0)
        try await again.seal()
        #expect(try await again.integer("SELECT count(*) FROM storage_log WHERE sealed") ?? 0 > 0)
        try await again.close()
    }

    // MARK: The bar

    /// Where nobody else has the file open, SQLite could take all of it, and write without the lock that is refused.
    @Test(
        "Locking the whole file doesn't lift the write bar",
        arguments: [
            "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = OFF", "PRAGMA locking_mode = EXCLUSIVE",
            "EXPLAIN PRAGMA main.locking_mode = EXCLUSIVE", "EXPLAIN PRAGMA main.synchronous = OFF",
        ])
    func exclusiveLockKeepsBar(sql: String) async throws {
        let engine = try await openWithTable()
        let codes = Mutex<[ResultCode]>([])
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO t(id, v) VALUES (2, 'second')")
            db.afterNextTransaction { db in
                for sql in [sql, "INSERT INTO t(id, v) VALUES (3, 'stray')"] {
                    do {
                        try db.execute(sql: sql)
                        codes.withLock { $0.append(.SQLITE_OK) }
                    } catch { codes.withLock { $0.append((error as? DatabaseError)?.resultCode ?? .SQLITE_ERROR) } }
                }
            }
        }
        #expect(codes.withLock { $0 }.last == .SQLITE_READONLY)
        #expect(try await engine.integer("SELECT count(*) FROM t") == 2)
        // What was set doesn't stay.
        try await engine.commit("INSERT INTO t(id, v) VALUES (4, 'third')")
        let modes = try await engine.withWriter { _, db in
            try ["main.journal_mode", "main.locking_mode", "main.synchronous"].map {
                try String.fetchOne(db, sql: "PRAGMA \($0)")
            }
        }
        #expect(modes == ["wal", "normal", "2"])
        #expect(try await engine.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 3)
        try await engine.close()
    }

    enum Moment { case inside, beforeRollback, behind }

    @Test("Settings are put back where the trace was taken", arguments: [Moment.inside, .beforeRollback, .behind])
    func untracedPragma(moment: Moment) async throws {
        let engine = try await openWithTable()
        let change = { @Sendable (db: GRDB.Database) throws in
            db.trace { _ in }
            try db.execute(sql: "PRAGMA max_page_count = 100000")
        }
        let limit = { try await engine.withWriter { _, db in try Int.fetchOne(db, sql: "PRAGMA max_page_count") } }
        let usual = try await limit()
        // Several commits before: settings that were looked at once aren't looked at again.
        for id in 2..<5 { try await engine.commit("INSERT INTO t(id, v) VALUES (\(id), 'before')") }
        do {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO t(id, v) VALUES (9, 'beside')")
                switch moment {
                case .inside: try change(db)
                case .beforeRollback:
                    try change(db)
                    try db.execute(sql: "ROLLBACK")
                case .behind: db.afterNextTransaction { try? change($0) }
                }
            }
            #expect(moment == .behind)
        } catch let error as StorageError {
            #expect(moment != .behind, "\(error)")
            #expect(error.code == .invalidArgument, "\(error)")
        }
        try await engine.commit("INSERT INTO t(id, v) VALUES (5, 'after')")
        #expect(try await limit() == usual)
        try await engine.close()
    }

    // MARK: Capture

    @Test("Rows that were changed between transactions")
    func changeBetweenTransactions() async throws {
        try await breach({ _, _ in }) { writer, db in
            // The bar is lifted as only the engine can.
            storage_capture_begin(writer.capture)
            try db.execute(sql: "BEGIN; INSERT INTO t(id, v) VALUES (9, 'stray')")
            storage_capture_end(writer.capture)
            #expect(storage_capture_count(writer.capture) == 1)
            try db.execute(sql: "ROLLBACK")
        }
    }

    @Test("A hook that was replaced")
    func replacedHook() async throws {
        try await breach({ _, _ in }) { writer, _ in sqlite3_preupdate_hook(writer.database.handle, nil, nil) }
    }

    @Test("A hook that is replaced inside of a commit")
    func hookReplacedInCommit() async throws {
        try await breach { writer, db in
            sqlite3_preupdate_hook(writer.database.handle, nil, nil)
            try db.execute(sql: "INSERT INTO t(id, v) VALUES (5, 'unseen')")
        }
    }

    @Test("An end of the log that isn't the writer's own")
    func foreignEndOfLog() async throws {
        try await breach({ _, _ in }) { writer, _ in writer.head.position += 1 }
    }

    @Test("Commits that don't cover their events")
    func uncoveredEvents() async throws {
        try await breach { writer, _ in
            let info = CommitInfo(number: 1, time: 1, metadata: CommitMetadata())
            writer.open.append((info, 3..<4))
        }
    }

    /// Rolling a savepoint back doesn't clear an error that happened before it.
    @Test("An error of capture outlives later savepoints")
    func captureErrorIsKept() async throws {
        for undone in ["SAVEPOINT a; ROLLBACK TO a; RELEASE a", "INSERT INTO d(id) SELECT 100 UNION ALL SELECT 100"] {
            let database = try Connection(
                opening: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, orFailWith: "no memory")
            defer { database.close() }
            let limits = storage_limits(value_bytes: 99, commit_bytes: 999, commit_events: 10)
            let capture = try #require(storage_capture_create(database.handle, limits))
            defer { storage_capture_destroy(capture) }
            func run(_ sql: String) -> Int32 { sqlite3_exec(database.handle, sql, nil, nil, nil) }
            #expect(run("CREATE TABLE d(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)") == SQLITE_OK)
            var definitions = CaptureDefinitions()
            let found = try IntrospectedSchema(database).tables
            let entity = CatalogEntity(
                id: 90, name: "d", stored: "d",
                columns: [CatalogColumn(id: 91, name: "id", type: "INTEGER", keyOrdinal: 1, required: true)])
            let table = try #require(found["d".folded])
            #expect(try definitions.define([.init(entity: entity, table: table)], in: capture) == 1)

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
