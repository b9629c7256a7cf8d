import Foundation
import StorageCore
import StorageKit
import StorageSync
import Testing

/// `storagekit sources`: what it shows of a store that query sources were fetched into.
struct SourcesCommandTests {
    @StorageEntity(table: "articles")
    struct Article {
        var id: Int
        var title: String
    }

    private struct StillTime: StorageCore.Clock {
        let now = Date(timeIntervalSince1970: Double(SampleStore.start) / 1_000_000)
    }

    private struct Unavailable: RetryableError, CustomStringConvertible {
        let retryAfter: Duration? = .hours(1)
        let description = "the server is busy"
    }

    @Test @MainActor func everySourceIsShown() async throws {
        let folder = try TestFolder()
        let container = try PersistenceContainer.file(
            at: URL(fileURLWithPath: folder.path()), config: StorageConfig(clock: StillTime())
        ) { $0.autoSchema(ArticleRecord.self) }
        func check(_ name: String, _ arguments: String...) throws {
            try GoldenOutputTests.check(GoldenOutputTests.Case(name, arguments: arguments), store: folder.path())
        }
        try check("sources-none", "sources")
        let articles = QuerySource(Article.all(), name: "ArticleSources.all")
            .remote { [Article(id: 1, title: "one")] }
            .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
        try await container.refresh(articles)
        let failing = QuerySource(Article.all(), name: "ArticleSources.failing")
            .remote { throw Unavailable() }
            .cache(.networkFirst)
        await #expect(throws: StorageError.self) { try await container.refresh(failing) }
        let refused = QuerySource(Article.all(), name: "ArticleSources.refused")
            .remote { throw RemoteError.unauthorized }
            .cache(.networkFirst)
        await #expect(throws: StorageError.self) { try await container.refresh(refused) }
        // Without the random part of the delay.
        try await container.storage.write {
            try $0.execute(
                "UPDATE query_source_state SET retry_at = attempted_at + 3600000000 WHERE retry_at IS NOT NULL")
        }
        try await container.storage.close()
        try check("sources", "sources")
        try TerminalOutputTests.expectLooks(.init("terminal-sources", arguments: ["sources"]), in: [folder])
        try check("sources-named", "sources", "ArticleSources.all")
        try check("sources-json", "sources", "--format", "json")
        try check("sources-jsonl", "sources", "--format", "jsonl")
        try check("sources-unknown", "sources", "ArticleSources.none")
    }
}
