#if SQLITE_ENGINE_SQLITENIO
    import CSQLite
    import Foundation
    import NIOPosix
    import TestSupport
    import StorageSQLiteClient
    import StorageSQLiteNIO
    import Synchronization
    import Testing

    extension TemporaryFolder {
        var database: String { path("test.sqlite") }

        /// What lies in it, with sizes.
        func listing() throws -> [String: Int] {
            try FileManager.default.contentsOfDirectory(atPath: url.path).reduce(into: [:]) {
                $0[$1] = try Data(contentsOf: URL(fileURLWithPath: path($1))).count
            }
        }
    }

    /// Threads of the test's own: tests that block some don't wait for each other.
    func withThreads<Result>(
        _ count: Int = 4, isolation: isolated (any Actor)? = #isolation, _ body: (NIOThreadPool) async throws -> Result
    ) async throws -> Result {
        let pool = NIOThreadPool(numberOfThreads: count)
        pool.start()
        do {
            let result = try await body(pool)
            try await pool.shutdownGracefully()
            return result
        } catch {
            try await pool.shutdownGracefully()
            throw error
        }
    }

    /// SQLite itself, as another process would use it.
    func sqlite(_ path: String, _ sql: String) throws {
        var database: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        try #require(sqlite3_open(path, &database) == SQLITE_OK)
        sqlite3_busy_timeout(database, 60_000)
        let code = sqlite3_exec(database, sql, nil, nil, nil)
        try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
    }

    /// Expects an ``SQLiteClientError`` of a code.
    func expect<Result>(
        _ code: SQLiteClientError.Code, isolation: isolated (any Actor)? = #isolation,
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
    ) async {
        do {
            _ = try await body()
            Issue.record("nothing was thrown, but \(code) was expected", sourceLocation: sourceLocation)
        } catch let error as SQLiteClientError {
            #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        } catch {
            Issue.record("\(error) was thrown, but \(code) was expected", sourceLocation: sourceLocation)
        }
    }

    /// A value that tasks share.
    final class Shared<Value: Sendable>: Sendable {
        private let state: Mutex<Value>

        init(_ value: Value) { state = Mutex(value) }

        var value: Value { state.withLock { $0 } }

        @discardableResult
        func update<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
            state.withLock { body(&$0) }
        }
    }

    /// A query without an end.
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
#endif
