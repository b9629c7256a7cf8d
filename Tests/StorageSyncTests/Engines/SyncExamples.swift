import Foundation
import Logging
import StorageEntities
import StorageSync
import TestSupport
import Testing

// The examples of the guide to sync engines, compiled and run. `DocumentationTests` holds the page to this file.

@StorageEntity
struct Movie: DataSyncModelProtocol, Equatable {
    var id: String
    var title: String
    var rating: Int
    var note: String?
}

struct UserSettings: DataSyncModelProtocol {
    var id: String
    var theme: String
    var languages: [String]?
}

@MainActor @Suite struct SyncExamples {
    /// Not called: all tests of this process would have the container.
    private func configure(_ url: URL) throws {
        PersistenceContainer.configure(try .file(at: url) { $0.autoSchema(MovieRecord.self) })
    }

    @Test("A collection is synchronised")
    func collectionExample() async throws {
        let container = try PersistenceContainer.inMemory { $0.autoSchema(MovieRecord.self) }
        let stalker = Movie(id: "2", title: "Stalker", rating: 3)
        let remote = PickyRemote(MockRemoteCollectionService(collection: [stalker], delay: .zero))
        try await withDatabaseContainer(container) { try await collection(remote, container.storage) }
        try await container.storage.close()
    }

    private func collection(_ remote: PickyRemote<Movie>, _ storage: Storage) async throws {
        let watchlistSyncEngine = CollectionSyncEngine<Movie>(remote: remote, managerKey: "watchlist")
        await watchlistSyncEngine.startListening()

        let receipt = try await watchlistSyncEngine.saveDocument(Movie(id: "1", title: "Solaris", rating: 4))
        print("stored at", receipt.local.position)
        try await receipt.confirmed()
        try await watchlistSyncEngine.updateDocument(id: "1", data: ["rating": 5, "note": String?.none])
        try await watchlistSyncEngine.deleteDocument(id: "2")

        try await storage.write(actor: "anna", reason: "import") { tx in
            try tx.save(Movie(id: "3", title: "Mirror", rating: 4))
            try tx.execute("UPDATE movies SET rating = 5 WHERE id = '3'")
        }

        for await status in watchlistSyncEngine.statuses {
            print(status.connection, status.pendingCount, status.lastError ?? "")
            if status.pendingCount == 0 { break }
        }
        let expected = [Movie(id: "1", title: "Solaris", rating: 5), Movie(id: "3", title: "Mirror", rating: 5)]
        try await eventually {
            remote.mock.collection == expected && watchlistSyncEngine.currentCollection == expected
        }

        let movies = watchlistSyncEngine.currentCollection
        let good = watchlistSyncEngine.getDocuments(where: { $0.rating >= 4 })
        let solaris = watchlistSyncEngine.getDocument(id: "1")
        let fetched = try await watchlistSyncEngine.getDocumentAsync(id: "1", behavior: .alwaysFetch)
        let best = try await storage.query(Movie.self).where { $0.rating >= 4 }.orderBy(\.title).fetch()
        #expect(movies == expected)
        #expect(good == expected)
        #expect(solaris == expected[0])
        #expect(fetched == expected[0])
        #expect(best.map(\.title) == ["Mirror", "Solaris"])

        let few = try await watchlistSyncEngine.getDocumentsAsync(buildQuery: { query in
            query.where("rating", isGreaterThan: 3).order(by: "rating", descending: true).limit(to: 20)
        })
        #expect(few.count == 2)

        try await watchlistSyncEngine.startListening(buildQuery: { query in
            query.where("rating", isGreaterThanOrEqualTo: 4)
        })
        #expect(watchlistSyncEngine.currentCollection.count == 2)

        remote.errors["1"] = RemoteError.rejected("ratings end at 5")
        let refused = try await watchlistSyncEngine.updateDocument(id: "1", data: ["rating": 6])
        do {
            try await refused.confirmed()
        } catch SyncWriteError.rejected(let reason) {
            print("refused:", reason)
        }
        #expect(watchlistSyncEngine.parked.map(\.reason) == ["ratings end at 5"])
        for write in watchlistSyncEngine.parked {
            print(write.documentId, write.reason)
            try await watchlistSyncEngine.discard(write)
        }
        try await watchlistSyncEngine.settled()
        try await eventually { watchlistSyncEngine.getDocument(id: "1")?.rating == 5 }

        for version in try await storage.history(Movie.self, id: "1") {
            print(version.commit.metadata.actor ?? "-", version.commit.metadata.attributes["conflicts"] ?? "-")
        }
    }

    @Test("Conflicts are merged or expected")
    func conflictExample() async throws {
        let container = try PersistenceContainer.inMemory { $0.autoSchema(MovieRecord.self) }
        let remote = MockRemoteCollectionService(
            collection: [Movie(id: "1", title: "Solaris", rating: 1)], delay: .zero)
        try await withDatabaseContainer(container) { try await conflicts(remote) }
        try await container.storage.close()
    }

    private func conflicts(_ remote: MockRemoteCollectionService<Movie>) async throws {
        let watchlistSyncEngine = CollectionSyncEngine<Movie>(
            remote: remote, managerKey: "watchlist",
            conflictResolution: .merge { base, mine, theirs in
                var merged = theirs
                merged.rating += mine.rating - (base?.rating ?? 0)
                return merged
            })
        await watchlistSyncEngine.startListening()
        if let solaris = watchlistSyncEngine.getDocument(id: "1") {
            try await watchlistSyncEngine.updateDocument(
                id: "1", data: ["rating": solaris.rating + 1], expecting: .unchanged(since: solaris))
        }
        try await watchlistSyncEngine.settled()
        #expect(remote.collection.map(\.rating) == [2])
    }

    @Test("A document is synchronised")
    func documentExample() async throws {
        let settings = UserSettings(id: "user_123", theme: "light")
        let remote = MockRemoteDocumentService(document: settings, delay: .zero)
        let container = try PersistenceContainer.inMemory()
        try await withDatabaseContainer(container) { try await document(remote) }
        try await container.storage.close()
    }

    private func document(_ remote: MockRemoteDocumentService<UserSettings>) async throws {
        let settingsSyncEngine = DocumentSyncEngine<UserSettings>(remote: remote, managerKey: "settings")
        try await settingsSyncEngine.startListening(documentId: "user_123")
        print(settingsSyncEngine.currentDocument?.theme ?? "no settings")
        let receipt = try await settingsSyncEngine.updateDocument(data: ["theme": "dark", "languages": ["uk", "en"]])
        try await receipt.confirmed()
        #expect(remote.documents.map(\.theme) == ["dark"])
        #expect(settingsSyncEngine.currentDocument?.languages == ["uk", "en"])
    }

    @Test("Events go to swift-log")
    func loggingExample() async throws {
        let remote = MockRemoteCollectionService(
            collection: [Movie(id: "1", title: "Solaris", rating: 4)], delay: .zero)
        let container = try PersistenceContainer.inMemory { $0.autoSchema(MovieRecord.self) }
        try await withDatabaseContainer(container) { try await logged(remote) }
        try await container.storage.close()
    }

    private func logged(_ remote: MockRemoteCollectionService<Movie>) async throws {
        let watchlistSyncEngine = CollectionSyncEngine<Movie>(
            remote: remote, managerKey: "watchlist", logger: SwiftLogSyncLogger(Logger(label: "app.sync")))
        #expect(try await watchlistSyncEngine.getCollectionAsync().count == 1)
    }

    @Test("A mock stands in for a remote")
    func mockExample() async throws {
        let solaris = Movie(id: "1", title: "Solaris", rating: 4)
        let remote = MockRemoteCollectionService(collection: [solaris], delay: .zero)
        let watchlistSyncEngine = CollectionSyncEngine<Movie>(
            remote: remote, managerKey: "watchlist", enableLocalPersistence: false, logger: ConsoleLogger())
        await watchlistSyncEngine.startListening()
        remote.change(Movie(id: "2", title: "Stalker", rating: 5))  // what another device does
        remote.failure = RemoteError.unavailable()  // no network from now on
        let receipt = try await watchlistSyncEngine.updateDocument(id: "1", data: ["rating": 3])
        remote.failure = nil
        try await watchlistSyncEngine.retryNow()
        try await receipt.confirmed()
        #expect(remote.writes.last == .update(id: "1", fields: ["rating"]))
        #expect(watchlistSyncEngine.getDocument(id: "1")?.rating == 3)
    }

    @Test("A remote of one's own")
    func ownRemoteExample() async throws {
        let container = try PersistenceContainer.inMemory { $0.autoSchema(MovieRecord.self) }
        try await withDatabaseContainer(container) { try await accounts(MovieService(), Account("anna")) }
        try await container.storage.close()
    }

    private func accounts(_ client: MovieService, _ account: Account) async throws {
        try client.put(Movie(id: "2", title: "Stalker", rating: 3), at: "users/anna/watchlist/2")
        let watchlistSyncEngine = CollectionSyncEngine<Movie>(
            remote: RESTCollection<Movie>(client: client, path: { account.user.map { "users/\($0)/watchlist" } }),
            managerKey: "watchlist")
        await watchlistSyncEngine.startListening()
        #expect(watchlistSyncEngine.currentCollection.map(\.title) == ["Stalker"])

        let solaris = Movie(id: "1", title: "Solaris", rating: 4, note: "with Anna")
        try await watchlistSyncEngine.saveDocument(solaris).confirmed()
        try await watchlistSyncEngine.updateDocument(id: "1", data: ["rating": 5, "note": String?.none]).confirmed()
        try await watchlistSyncEngine.deleteDocument(id: "2")?.confirmed()
        let stored = try client.movies(at: "users/anna/watchlist")
        #expect(stored == [Movie(id: "1", title: "Solaris", rating: 5)])
        try client.put(Movie(id: "3", title: "Mirror", rating: 4), at: "users/anna/watchlist/3")
        try await eventually { watchlistSyncEngine.currentCollection.map(\.id) == ["1", "3"] }

        let found = try await watchlistSyncEngine.getDocumentsAsync(buildQuery: {
            $0.where("title", isEqualTo: "Solaris").limit(to: 20)
        })
        #expect(client.requests.contains("GET users/anna/watchlist?title=Solaris&limit=20"))
        #expect(found.count == 2)
        for try await movie in watchlistSyncEngine.streamDocument(id: "3") {
            #expect(movie?.title == "Mirror")
            break
        }

        account.user = "berta"
        #expect(watchlistSyncEngine.currentCollection.isEmpty)
        await watchlistSyncEngine.startListening()
        #expect(watchlistSyncEngine.currentCollection.isEmpty)
        account.user = "anna"
        await watchlistSyncEngine.startListening()
        #expect(watchlistSyncEngine.currentCollection.map(\.id) == ["1", "3"])
    }
}

struct ConsoleLogger: DataSyncLogger {
    func trackEvent(event: any DataSyncLogEvent) { print(event.eventName, event.parameters ?? [:]) }
    func addUserProperties(dict: [String: Any], isHighPriority: Bool) {}
}

// MARK: A remote of one's own

/// What the remote needs of the program's HTTP client.
@MainActor
protocol RESTClient: Sendable {
    func send(_ method: String, _ path: String, _ body: Data?) async throws -> (status: Int, body: Data)
    /// What anybody changes below a path from now on, such as a stream of server-sent events.
    func changes(_ path: String) -> AsyncThrowingStream<RESTChange, any Error>
}

struct RESTChange: Sendable {
    var id: String
    /// nil where the document was deleted.
    var document: Data?
}

/// A collection of documents behind a REST service.
struct RESTCollection<T: DataSyncModelProtocol>: RemoteCollectionService {
    let client: any RESTClient
    let path: @MainActor @Sendable () -> String?

    var collectionPath: String? { path() }

    func getCollection() async throws -> [T] {
        try await JSONDecoder().decode([T].self, from: send("GET", ""))
    }

    func getDocuments(query: QueryBuilder) async throws -> [T] {
        var components = URLComponents()
        components.queryItems = try query.getOperations().map { operation -> URLQueryItem in
            switch operation {
            case .filter(let filter) where filter.operator == .isEqualTo:
                return URLQueryItem(name: filter.field, value: "\(filter.value)")
            case .limit(let count): return URLQueryItem(name: "limit", value: "\(count)")
            default: throw RemoteError.rejected("the service knows only equality and limits")
            }
        }
        let text = components.percentEncodedQuery ?? ""
        return try await JSONDecoder().decode([T].self, from: send("GET", "?\(text)"))
    }

    func getDocument(id: String) async throws -> T {
        try await JSONDecoder().decode(T.self, from: send("GET", "/\(id)"))
    }

    func saveDocument(_ model: T) async throws {
        _ = try await send("PUT", "/\(model.id)", JSONEncoder().encode(model))
    }

    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        let fields = data.mapValues { AnyField(value: $0) }
        _ = try await send("PATCH", "/\(id)", JSONEncoder().encode(fields))
    }

    func deleteDocument(id: String) async throws { _ = try await send("DELETE", "/\(id)") }

    func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> {
        stream { changes, stream in
            stream.yield(try await document(id))
            for try await change in changes where change.id == id { stream.yield(try await document(id)) }
        }
    }

    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) {
        let updates: AsyncThrowingStream<T, any Error> = stream { changes, stream in
            for try await change in changes {
                guard let document = change.document else { continue }
                stream.yield(try JSONDecoder().decode(T.self, from: document))
            }
        }
        let deletions: AsyncThrowingStream<String, any Error> = stream { changes, stream in
            for try await change in changes where change.document == nil { stream.yield(change.id) }
        }
        return (updates, deletions)
    }
}

extension RESTCollection {
    var capabilities: RemoteCapabilities { [.changeStreams, .deletionStreams, .queries, .partialUpdates] }

    private func send(_ method: String, _ end: String, _ body: Data? = nil) async throws -> Data {
        guard let collection = path() else { throw RemoteError.unauthorized }
        let answer = try await client.send(method, collection + end, body)
        switch answer.status {
        case 200..<300: return answer.body
        case 401: throw RemoteError.unauthorized
        case 404: throw RemoteError.notFound
        case 408, 429, 500...: throw RemoteError.unavailable()
        default: throw RemoteError.rejected("the service answered \(answer.status)")
        }
    }

    private func document(_ id: String) async throws -> T? {
        do { return try await getDocument(id: id) } catch RemoteError.notFound { return nil }
    }

    /// A stream that is made of the service's changes, until they fail or nobody reads it any more.
    private func stream<Value: Sendable>(
        _ feed:
            @escaping @MainActor @Sendable (
                AsyncThrowingStream<RESTChange, any Error>, AsyncThrowingStream<Value, any Error>.Continuation
            ) async throws -> Void
    ) -> AsyncThrowingStream<Value, any Error> {
        // Listens when this returns, so that no change is missed.
        let changes = client.changes(path() ?? "")
        return AsyncThrowingStream { continuation in
            let task = Task { @MainActor in
                do {
                    try await feed(changes, continuation)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

/// Encodes a value whose type isn't known.
struct AnyField: Encodable {
    let value: any DMCodableSendable

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// A service in memory: JSON by path. It answers a query with the whole collection.
@MainActor
private final class MovieService: RESTClient {
    private var documents: [String: Data] = [:]
    private var listeners: [(path: String, continuation: AsyncThrowingStream<RESTChange, any Error>.Continuation)] = []
    private(set) var requests: [String] = []

    func send(_ method: String, _ path: String, _ body: Data?) async throws -> (status: Int, body: Data) {
        requests.append("\(method) \(path)")
        let path = String(path.prefix { $0 != "?" })
        switch (method, documents[path]) {
        case ("GET", let document?): return (200, document)
        case ("GET", nil) where path.hasSuffix("/watchlist"): return (200, Data(json(at: path).utf8))
        case ("PUT", _): change(path, body)
        case ("PATCH", let document?):
            let fields = try object(document).merging(try object(body ?? Data())) { $1 }
            change(path, try JSONSerialization.data(withJSONObject: fields))
        case ("DELETE", _?): change(path, nil)
        default: return (404, Data())
        }
        return (204, Data())
    }

    func changes(_ path: String) -> AsyncThrowingStream<RESTChange, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: RESTChange.self, throwing: (any Error).self)
        listeners.append((path, continuation))
        return stream
    }

    func put(_ movie: Movie, at path: String) throws { change(path, try JSONEncoder().encode(movie)) }

    func movies(at path: String) throws -> [Movie] {
        try JSONDecoder().decode([Movie].self, from: Data(json(at: path).utf8))
    }

    private func change(_ path: String, _ document: Data?) {
        documents[path] = document
        guard let slash = path.lastIndex(of: "/") else { return }
        let change = RESTChange(id: String(path[slash...].dropFirst()), document: document)
        for listener in listeners where listener.path == path[..<slash] { listener.continuation.yield(change) }
    }

    /// All documents of a collection, as an array.
    private func json(at path: String) -> String {
        let all = documents.filter { $0.key.hasPrefix("\(path)/") }.sorted { $0.key < $1.key }
        return "[\(all.map { String(decoding: $0.value, as: UTF8.self) }.joined(separator: ","))]"
    }

    private func object(_ json: Data) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: json) as? [String: Any] ?? [:]
    }
}
