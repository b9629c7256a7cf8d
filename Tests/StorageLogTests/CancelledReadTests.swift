import CSQLite
import GRDB
import SchemaTestSupport
import StorageCore
import StorageRecords
import TestSupport
import Testing

@testable import StorageLog

/// A cancelled read throws `CancellationError` and disturbs no other.
@Suite struct CancelledReadTests {
    /// Runs until it is interrupted.
    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    private func engine(inFile: Bool, _ folder: TemporaryFolder) throws -> StorageEngine {
        inFile
            ? try .open(path: folder.path(), configuration: TestStore.configuration()) : try TestStore.inMemory()
    }

    @Test("A cancelled statement throws `CancellationError`", arguments: [true, false])
    func cancelledStatement(inFile: Bool) async throws {
        let folder = try TemporaryFolder()
        let engine = try engine(inFile: inFile, folder)
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await engine.read { db in
                continuation.finish()
                let connection = try db.connection
                _ = try PreparedStatement(connection, Self.endless).step()
            }
        }
        for await _ in begun {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await engine.read { db in try Int.fetchOne(db, sql: "SELECT 1") } == 1)
        try await engine.close()
    }

    /// An interruption without cancelling is SQLite's error.
    @Test("An interruption is an error of its own")
    func interruptedStatement() async throws {
        let folder = try TemporaryFolder()
        let engine = try engine(inFile: true, folder)
        let error = await #expect(throws: StorageError.self) {
            try await engine.read { db in
                let connection = try db.connection
                let statement = try PreparedStatement(connection, "VALUES (1), (2)")
                #expect(try statement.step())
                sqlite3_interrupt(connection.handle)
                _ = try statement.step()
            }
        }
        #expect(error?.code == .interrupted)
        #expect(try await engine.read { db in try Int.fetchOne(db, sql: "SELECT 1") } == 1)
        try await engine.close()
    }

    /// Tasks that are cancelled at any moment beside tasks that aren't: the first end with a value or `CancellationError`,
    /// the others with a value.
    @Test("Cancelled reads disturb no others")
    func cancelledReadsAreIsolated() async throws {
        let folder = try TemporaryFolder()
        let engine = try engine(inFile: true, folder)
        try await engine.adopt(
            "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO t(id, v) SELECT i, 'row ' || i FROM n
            """)
        @Sendable func count() async throws -> Int {
            try await engine.read { db in
                // Rows become fewer when they are sealed; their events don't.
                try LogReader(db.connection).rows(1...Int64.max).reduce(0) { $0 + $1.count }
            }
        }
        let expected = try await count()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<200 {
                        let found = try await count()
                        #expect(found == expected)
                    }
                }
            }
            for seed in 0..<3 {
                group.addTask {
                    var random = SplitMix64(seed: UInt64(seed))
                    for _ in 0..<200 {
                        let task = Task { try await count() }
                        // Cancelled at any moment.
                        try await Task.sleep(for: .microseconds(random.next() % 300))
                        task.cancel()
                        do {
                            let found = try await task.value
                            #expect(found == expected)
                        } catch is CancellationError {}
                    }
                }
            }
            try await group.waitForAll()
        }
        try await engine.close()
    }
}
