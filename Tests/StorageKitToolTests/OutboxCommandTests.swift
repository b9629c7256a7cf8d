import Foundation
import StorageCore
import StorageEntities
import StorageKit
import StorageSync
import TestSupport
import Testing

/// `storagekit outbox`: what it shows of a store with sync engines, and what it changes for the program to find.
@MainActor @Suite struct OutboxCommandTests {
    @StorageEntity(table: "articles")
    struct Article: DataSyncModelProtocol, Equatable {
        var id: String
        var title: String
    }

    private struct StillTime: StorageClock {
        let now = Date(timeIntervalSince1970: Double(SampleStore.start) / 1_000_000)
    }

    /// A remote that refuses some documents, and can be busy.
    private final class Remote: RemoteCollectionService {
        let mock = MockRemoteCollectionService(collection: [Article(id: "a1", title: "one")], delay: .zero)
        var errors: [String: any Error] = [:]

        var collectionPath: String? { "users/7/articles" }
        private func check(_ id: String) throws { if let error = errors[id] { throw error } }

        func getCollection() async throws -> [Article] { try await mock.getCollection() }
        func getDocuments(query: QueryBuilder) async throws -> [Article] { try await mock.getDocuments(query: query) }
        func getDocument(id: String) async throws -> Article { try await mock.getDocument(id: id) }
        func saveDocument(_ model: Article) async throws {
            try check(model.id)
            try await mock.saveDocument(model)
        }
        func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
            try check(id)
            try await mock.updateDocument(id: id, data: data)
        }
        func deleteDocument(id: String) async throws {
            try check(id)
            try await mock.deleteDocument(id: id)
        }
        func streamDocument(id: String) -> AsyncThrowingStream<Article?, any Error> { mock.streamDocument(id: id) }
        func streamCollectionUpdates() -> (
            updates: AsyncThrowingStream<Article, any Error>, deletions: AsyncThrowingStream<String, any Error>
        ) { mock.streamCollectionUpdates() }
    }

    private func open(_ folder: TemporaryFolder) throws -> PersistenceContainer {
        try .file(at: URL(fileURLWithPath: folder.path()), config: StorageConfig(clock: StillTime())) {
            $0.autoSchema(ArticleRecord.self)
        }
    }

    private func engine(_ remote: Remote, in container: PersistenceContainer) -> CollectionSyncEngine<Article> {
        withDatabaseContainer(container) { CollectionSyncEngine(remote: remote, managerKey: "articles") }
    }

    // Programs run off the main thread, which other tests wait for.

    private nonisolated func check(_ name: String, _ folder: TemporaryFolder, _ arguments: String...) async throws {
        try GoldenOutputTests.check(GoldenOutputTests.Case(name, arguments: arguments), store: folder.path())
    }

    private nonisolated func looks(_ name: String, _ folder: TemporaryFolder, _ arguments: String...) async throws {
        try TerminalOutputTests.expectLooks(.init(name, arguments: arguments), in: [folder])
    }

    private nonisolated func run(_ arguments: [String], _ path: String) async throws -> ToolProcess.Outcome {
        try ToolProcess.run(arguments, store: path)
    }

    /// A store with a parked write, one behind it, and one that waits for a remote that is busy.
    private func fill(_ folder: TemporaryFolder, _ remote: Remote, whileOpen body: () async throws -> Void) async throws
    {
        let container = try open(folder)
        let engine = engine(remote, in: container)
        await engine.startListening()
        remote.errors["a2"] = RemoteError.rejected("a title has three letters or more")
        try await engine.saveDocument(Article(id: "a2", title: "x"))
        try await eventually(within: .seconds(600)) { engine.parked.count == 1 }
        remote.errors["a1"] = RemoteError.unavailable(retryAfter: .seconds(60))
        try await container.storage.write(actor: "anna", reason: "spelling") { tx in
            try tx.save(Article(id: "a2", title: "xy"))
            try tx.save(Article(id: "a1", title: "one more"))
        }
        try await eventually(within: .seconds(600)) {
            if case .waiting = engine.status.connection { engine.pendingCount == 3 } else { false }
        }
        try await body()
        try await container.storage.close()
        // The delay is random, and how often it was tried is a matter of time.
        try folder.edit(
            "UPDATE sync_remotes SET record = json_set(record, '$.delayMicroseconds', 1500000, '$.failures', 2)")
    }

    @Test("Every write is shown and changed")
    func everyWrite() async throws {
        let folder = try TemporaryFolder()
        let remote = Remote()
        try await open(folder).storage.close()
        try await check("outbox-none", folder, "outbox")
        try await check("outbox-none-retry", folder, "outbox", "retry", "--all")
        try await fill(folder, remote) {
            let path = folder.path()
            // Another process has the store: it may be read, and not written.
            #expect(try await run(["outbox"], path).status == 0)
            #expect(try await run(["outbox", "discard", "a2", "--dry-run"], path).status == 0)
            for words in [["retry"], ["discard", "a2", "--yes"]] {
                let outcome = try await run(["outbox"] + words, path)
                #expect(outcome.status == 4)
                #expect(outcome.errors.contains("of the engine, or end the program first"))
            }
        }
        try await check("outbox", folder, "outbox")
        try await looks("terminal-outbox", folder, "outbox")
        try await check("outbox-json", folder, "outbox", "--format", "json")
        try await check("outbox-jsonl", folder, "outbox", "--format", "jsonl")
        try await check("outbox-document", folder, "outbox", "list", "a2")
        try await check("outbox-parked", folder, "outbox", "--parked", "--key", "articles")
        try await check("outbox-limit", folder, "outbox", "-n", "1")
        try await check("outbox-unknown-document", folder, "outbox", "list", "a3")
        try await check("outbox-unknown-key", folder, "outbox", "--key", "books")
        try await check("outbox-csv", folder, "outbox", "--format", "csv")
        try await check("outbox-list-yes", folder, "outbox", "--yes")
        try await check("outbox-discard-unnamed", folder, "outbox", "discard")
        try await check("outbox-discard-dry-run", folder, "outbox", "discard", "a2", "--parked", "--dry-run")
        try await check(
            "outbox-discard-dry-run-json", folder, "outbox", "discard", "--all", "--dry-run", "--format", "json")
        try await check("outbox-discard-asks", folder, "outbox", "discard", "a2")
        try await check("outbox-retry-dry-run", folder, "outbox", "retry", "a2", "--dry-run")
        try await check("outbox-retry", folder, "outbox", "retry")
        try await check("outbox-retry-document", folder, "outbox", "retry", "a2", "--format", "json")
        try await check("outbox-after-retry", folder, "outbox")
        try await check("outbox-discard", folder, "outbox", "discard", "a2", "--reason", "not worth it", "--yes")
        try await check("outbox-after-discard", folder, "outbox")
        let log = try await run(
            ["log", "--table", "storage_operation", "--format", "jsonl", "-n", "1"], folder.path())
        #expect(log.output.contains(#""app":"storagekit","reason":"not worth it""#))
        try await check("outbox-verify", folder, "verify")
        // The program finds it so.
        remote.errors = [:]
        let container = try open(folder)
        let engine = engine(remote, in: container)
        #expect(engine.currentCollection.map(\.id) == ["a1", "a2"])
        try await engine.retryNow()
        try await eventually(within: .seconds(600)) {
            engine.pendingCount == 0 && engine.currentCollection.map(\.id) == ["a1"]
        }
        #expect(remote.mock.writes == [.update(id: "a1", fields: ["title"])])
        #expect(engine.currentCollection == [Article(id: "a1", title: "one more")])
        let commit = try await container.storage.history(Article.self, id: "a2").last?.commit.metadata
        #expect(commit?.actor == "sync articles")
        #expect(commit?.attributes["discarded"]?.contains("a2@") == true)
        try await container.storage.close()
    }
}
