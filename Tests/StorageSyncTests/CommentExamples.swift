import Foundation
import Logging
import StorageEntities
import StorageSync

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The examples in the comments of `StorageSync`, compiled and not run. `DocumentationTests` compares them with this file.
@MainActor enum CommentExamples {
    @StorageEntity
    struct Product: DataSyncModelProtocol {
        var id: String
        var name: String
        var price: Double
    }

    @StorageEntity
    struct StockedProduct: DataSyncModelProtocol {
        var id: String
        var stock: Int
    }

    @StorageEntity
    struct Counter: DataSyncModelProtocol {
        var id: String
        var count: Int
    }

    @StorageEntity
    struct Task: DataSyncModelProtocol {
        var id: String
        var title: String
        var isDone: Bool
        var isPinned: Bool
        var priority: Int
        var createdAt: Date
    }

    struct UserModel: DataSyncModelProtocol {
        var id: String
        var name: String
    }

    protocol TasksAPI: Sendable {
        func fetchAll() async throws -> [Task]
        func fetch(priority: Int) async throws -> [Task]
    }

    struct Tasks: TasksAPI {
        func fetchAll() async throws -> [Task] { [] }
        func fetch(priority: Int) async throws -> [Task] { [] }
        func tasks() async throws -> [Task] { [] }
        func openTasks() async throws -> [Task] { [] }
        func tasks(after cursor: String?) async throws -> (tasks: [Task], cursor: String?) { ([], nil) }
    }

    @QuerySources
    struct TaskSources {
        let api: any TasksAPI

        var all: QuerySource<Task> {
            QuerySource(Task.all().order(by: .createdAt))
                .remote { try await api.fetchAll() }
                .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
        }

        var byPriority: (Int) -> QuerySource<Task> {
            { priority in
                QuerySource(Task.all().filter(Task.Columns.priority == priority))
                    .remote { [api] in try await api.fetch(priority: priority) }
                    .cache(.cacheFirst(ttl: .hours(1)))
            }
        }
    }

    struct Busy: RetryableError {
        var retryAfter: Duration? { .seconds(30) }
    }

    private static func sources() {
        let api = Tasks()
        let open = QuerySource(Task.all().filter(Task.Columns.isDone == false).order(by: .createdAt))
            .remote { try await api.openTasks() }
            .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
        let merged =
            QuerySource(Task.all())
            .remote(merge: .custom { stored, fetched in stored.map { $0.isPinned ? $0 : fetched } ?? fetched }) {
                try await api.tasks()
            }
        let paged =
            QueryRefreshAction(merge: .replace) { fetch in
                let page = try await api.tasks(after: fetch.cursor)
                return .rows(page.tasks, next: page.cursor)
            }
        print(open, merged, paged)
    }

    private struct Session {
        func signIn() async throws {}
    }

    private static func results(_ container: PersistenceContainer, _ sources: TaskSources, _ session: Session)
        async throws
    {
        QuerySourceRegistry.shared.register(TaskSources(api: .live))
        try await session.signIn()
        container.credentialsChanged()
        let tasks = container.results(of: sources.all)
        await tasks.refresh()
        print(tasks.items, tasks.isStale)
        let storage = container.storage
        for status in try await storage.querySourceStatuses() where status.failures > 0 {
            print(status.source, status.lastError ?? "", status.nextRefresh as Any)
        }
    }

    static func configure(_ url: URL) throws {
        PersistenceContainer.configure(try .file(at: url) { $0.autoSchema(ProductRecord.self) })
    }

    static func collections(_ remote: MockRemoteCollectionService<Product>) async throws {
        let productsSyncEngine = CollectionSyncEngine<Product>(remote: remote, managerKey: "products")
        await productsSyncEngine.startListening()
        try await productsSyncEngine.updateDocument(id: "product_123", data: ["price": 29.99])
        let few = try await productsSyncEngine.getDocumentsAsync {
            $0.where("category", isEqualTo: "electronics").limit(to: 20)
        }
        print(few)
    }

    static func writes(_ productsSyncEngine: CollectionSyncEngine<Product>, product: Product) async throws {
        let receipt = try await productsSyncEngine.saveDocument(product)
        try await receipt.confirmed()  // if the remote's answer matters
    }

    static func preconditions(_ productsSyncEngine: CollectionSyncEngine<StockedProduct>) async throws {
        let product = try await productsSyncEngine.getDocumentAsync(id: "product_123")
        try await productsSyncEngine.updateDocument(
            id: product.id, data: ["stock": product.stock - 1], expecting: .unchanged(since: product))
    }

    static func statuses(_ watchlistSyncEngine: CollectionSyncEngine<Product>, refused: SyncReceipt) async throws {
        for await status in watchlistSyncEngine.statuses {
            print(status.connection, status.pendingCount, status.lastError ?? "")
            if status.pendingCount == 0 { break }
        }
        for write in watchlistSyncEngine.parked {
            print(write.documentId, write.reason)
            try await watchlistSyncEngine.discard(write)
        }
        do {
            try await refused.confirmed()
        } catch SyncWriteError.rejected(let reason) {
            print("parked: \(reason)")
        }
        let fresh = try await watchlistSyncEngine.getDocumentAsync(id: "1", behavior: .alwaysFetch)
        print(fresh)
    }

    static func conflicts(_ remote: MockRemoteCollectionService<Counter>) {
        let countersSyncEngine = CollectionSyncEngine<Counter>(
            remote: remote, managerKey: "counters",
            conflictResolution: .merge { base, mine, theirs in
                var merged = theirs
                merged.count += mine.count - (base?.count ?? 0)
                return merged
            })
        print(countersSyncEngine)
    }

    static func tasks(_ remote: MockRemoteCollectionService<Task>) async throws {
        let logger = SwiftLogSyncLogger(Logger(label: "app.sync"))
        let tasksSyncEngine = CollectionSyncEngine<Task>(remote: remote, managerKey: "tasks", logger: logger)
        try await tasksSyncEngine.startListening { $0.where("project", isEqualTo: "apollo") }
    }

    static func documents(_ remote: MockRemoteDocumentService<UserModel>) async throws {
        let userSyncEngine = DocumentSyncEngine<UserModel>(remote: remote, managerKey: "user")
        try await userSyncEngine.startListening(documentId: "user_123")
        try await userSyncEngine.updateDocument(data: ["name": "Anna"])
    }

    static func mocks(_ keyboard: Product, _ mouse: Product, _ trackball: Product) {
        let remote = MockRemoteCollectionService(collection: [keyboard, mouse], delay: .zero)
        remote.change(trackball)  // what another device does
        remote.failure = RemoteError.unavailable()  // the network is down
    }

    static func mocks(_ settings: UserModel, _ otherSettings: UserModel) {
        let remote = MockRemoteDocumentService(document: settings, delay: .zero)
        remote.change(otherSettings)  // what another device does
        remote.failure = RemoteError.unavailable()  // the network is down
    }

    static func queries() {
        let query = QueryBuilder()
            .where("category", isEqualTo: "electronics")
            .order(by: "price", descending: true)
            .limit(to: 10)
        print(query)
    }

    struct ConsoleLogger: DataSyncLogger {
        func trackEvent(event: any DataSyncLogEvent) { print(event.eventName, event.parameters ?? [:]) }
        func addUserProperties(dict: [String: Any], isHighPriority: Bool) {}
    }

    /// A part of a remote service.
    private struct Client {
        func put(_ model: Product) async throws -> Int { 200 }
    }

    private struct ErrorsExample {
        let client: Client

        func saveDocument(_ model: Product) async throws {
            let status = try await client.put(model)
            if status == 401 { throw RemoteError.unauthorized }
            if status == 422 { throw RemoteError.rejected("the server doesn't accept it") }
        }
    }

    private struct KeysExample {
        let url: @Sendable (String) -> URL

        func saveDocument(_ model: Product) async throws {
            var request = URLRequest(url: url(model.id))
            request.setValue(RemoteWrite.current?.idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
            print(request)
        }
    }
}

extension CommentExamples.TasksAPI where Self == CommentExamples.Tasks {
    static var live: CommentExamples.Tasks { CommentExamples.Tasks() }
}

/// A service that somebody else has written.
@MainActor struct ProductsService {
    typealias Product = CommentExamples.Product

    let mock: MockRemoteCollectionService<Product>

    func getCollection() async throws -> [Product] { try await mock.getCollection() }
    func getDocuments(query: QueryBuilder) async throws -> [Product] { try await mock.getDocuments(query: query) }
    func getDocument(id: String) async throws -> Product { try await mock.getDocument(id: id) }
    func saveDocument(_ model: Product) async throws { try await mock.saveDocument(model) }
    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        try await mock.updateDocument(id: id, data: data)
    }
    func deleteDocument(id: String) async throws { try await mock.deleteDocument(id: id) }
    func streamDocument(id: String) -> AsyncThrowingStream<Product?, any Error> { mock.streamDocument(id: id) }
    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<Product, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) { mock.streamCollectionUpdates() }
}

extension ProductsService: RemoteCollectionService {
    var capabilities: RemoteCapabilities { [.queries, .partialUpdates] }  // no stream of changes
}
