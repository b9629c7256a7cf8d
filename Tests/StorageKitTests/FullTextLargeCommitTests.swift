import CSQLite
import Foundation
import GRDB
import StorageKit
import StorageLog
import StorageMaintenance
import StorageTesting
import Testing

/// What a commit of many documents leaves behind for the small ones after it.
struct FullTextLargeCommitTests {
    private func articles(_ ids: Range<Int>) -> [Article] {
        ids.map { Article(id: "\($0)", title: "title \($0)", content: "word\($0 % 97) common text") }
    }

    private func makeStore() throws -> TemporaryStore {
        try TemporaryStore {
            $0.autoSchema(ArticleRecord.self)
            $0.addFullTextSearch(table: "articles", columns: ["title", "content"])
        }
    }

    /// How many segments the index consists of: the upper bits of the numbers of its pages tell them apart.
    private func segments(_ storage: Storage) async throws -> Int? {
        try await storage.read { db in
            let index =
                try String.fetchOne(db, sql: "SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5%'") ?? ""
            return try Int.fetchOne(db, sql: "SELECT count(DISTINCT id >> 37) FROM \(index)_data WHERE id > 10")
        }
    }

    @Test("A commit that is most of an index leaves one segment, and a smaller one doesn't touch what is there")
    func largeCommitLeavesOneSegment() async throws {
        let store = try makeStore()
        for id in 0..<3 { try await store.storage.save(articles(id..<id + 1)) }
        #expect(try await segments(store.storage) == 3)
        try await store.storage.save(articles(3..<1_300))
        #expect(try await segments(store.storage) == 1)
        try await store.storage.save(articles(1_300..<1_600))
        #expect(try await segments(store.storage) == 2)
        try await store.storage.rebuild()
        #expect(try await segments(store.storage) == 1)
        #expect(try await store.storage.verify().isSound)
    }

    @Test("Only a large commit reconnects the index, which prepares statements again")
    func reconnection() async throws {
        let store = try makeStore()
        /// How often a statement of the writer has been prepared again.
        func preparations() async throws -> Int32 {
            try await store.storage.engine.withWriter { writer, _ in
                let statement = try writer.statement("SELECT count(*) FROM articles")
                defer { statement.reset() }
                try statement.step()
                return sqlite3_stmt_status(statement.pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
            }
        }
        try await store.storage.save(articles(0..<2))
        let before = try await preparations()
        try await store.storage.save(articles(2..<200))
        #expect(try await preparations() == before)
        try await store.storage.save(articles(200..<500))
        #expect(try await preparations() == before + 1)
        try await store.storage.save(articles(500..<501))
        #expect(try await preparations() == before + 1)
    }

    @Test("Commits behind a large one are indexed, undone and guarded as before")
    func commitsBehind() async throws {
        let store = try makeStore()
        let storage = store.storage
        try await storage.write { try $0.execute("CREATE TEMP TABLE mine AS SELECT 7 AS number") }
        try await storage.save(articles(0..<600))
        try await storage.write { tx in
            try tx.execute("UPDATE articles SET content = 'changed ' || (SELECT number FROM mine) WHERE id = '5'")
            try tx.delete(Article.self, id: "6")
        }
        await #expect(throws: CancellationError.self) {
            try await storage.write { tx in
                try tx.save(articles(600..<1_200))
                throw CancellationError()
            }
        }
        await #expect(throws: StorageError.self) { try await storage.write { try $0.execute("PRAGMA query_only = 1") } }
        await #expect(throws: StorageError.self) {
            try await storage.write { try $0.execute("DELETE FROM storage_log") }
        }
        try await storage.save(articles(2_000..<2_001))
        #expect(try await storage.searchCount(Article.self, query: "changed 7") == 1)
        #expect(try await storage.searchCount(Article.self, query: "common") == 599)
        #expect(try await storage.verify().isSound)
        try await store.reopen()
        #expect(try await store.storage.searchCount(Article.self, query: "common") == 599)
        #expect(try await store.storage.verify().isSound)
    }
}
