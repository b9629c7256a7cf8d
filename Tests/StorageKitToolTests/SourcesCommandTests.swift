import Foundation
import StorageCore
import StorageEntities
import StorageKit
import StorageSync
import TestSupport
import Testing

/// `storagekit sources`: what it shows of a store that query sources were fetched into.
struct SourcesCommandTests {
    @StorageEntity(table: "articles")
    struct Article {
        var id: Int
        var title: String
    }

    private struct StillTime: StorageClock {
        let now = Date(timeIntervalSince1970: Double(SampleStore.start) / 1_000_000)
    }

    private struct Unavailable: RetryableError, CustomStringConvertible {
        let retryAfter: Duration? = .hours(1)
        let description = "the server is busy"
    }

    private func check(_ name: String, _ folder: TemporaryFolder, _ arguments: String...) async throws {
        try GoldenOutputTests.check(GoldenOutputTests.Case(name, arguments: arguments), store: folder.path())
    }

    private func looks(_ name: String, _ folder: TemporaryFolder, _ arguments: String...) async throws {
        try TerminalOutputTests.expectLooks(.init(name, arguments: arguments), in: [folder])
    }

    @Test("Every source is shown")
    @MainActor func everySource() async throws {
        let folder = try TemporaryFolder()
        let container = try PersistenceContainer.file(
            at: URL(fileURLWithPath: folder.path()), config: StorageConfig(clock: StillTime())
        ) { $0.autoSchema(ArticleRecord.self) }
        try await check("sources-none", folder, "sources")
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
        try await check("sources", folder, "sources")
        try await looks("terminal-sources", folder, "sources")
        try await check("sources-named", folder, "sources", "ArticleSources.all")
        try await check("sources-json", folder, "sources", "--format", "json")
        try await check("sources-jsonl", folder, "sources", "--format", "jsonl")
        try await check("sources-unknown", folder, "sources", "ArticleSources.none")
    }
}
