#if STORAGE_HTTP
    import AsyncHTTPClient
    import Foundation
    import StorageEntities
    import StorageHTTP
    import StorageSync

    /// The examples in the comments of `StorageHTTP`, compiled and not run. `DocumentationTests` compares them with this file.
    @MainActor enum CommentExamples {
        @StorageEntity
        struct Task: Codable {
            var id: Int
            var title: String
        }

        @StorageEntity
        struct Movie: DataSyncModelProtocol {
            var id: String
            var title: String
        }

        @StorageEntity
        struct Product: DataSyncModelProtocol {
            var id: String
            var name: String
        }

        @StorageEntity
        struct Note: DataSyncModelProtocol {
            var id: String
            var text: String
        }

        struct UserModel: DataSyncModelProtocol {
            var id: String
            var name: String
        }

        struct Envelope: Decodable { let items: [Task]; let next: String? }

        @MainActor private final class Session {
            var token: String { "token" }
        }

        private final class Account {
            var user: String? { "7" }
        }

        private static func signIn() async {}

        static func remotes(token: String, results: QueryResults<Task>) async {
            var tasks = HTTPRemote("https://api.example.com/tasks", headers: ["Authorization": "Bearer \(token)"])
            let source = QuerySource(Task.all()).remote(tasks).cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
            tasks.makeDecoder = {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .iso8601
                return decoder
            }
            print(source)
            if let error = results.error?.cause as? HTTPRemoteError, error.status == 401 { await signIn() }
            let cached =
                QuerySource(Task.all())
                .remote(HTTPRemote("https://api.example.com/tasks"))
                .cache(.cacheFirst(ttl: .hours(1)))
            let paged =
                QuerySource(Task.all()).remote(HTTPRemote("https://api.example.com/tasks")) { body, decoder in
                    let envelope = try decoder.decode(Envelope.self, from: body)
                    return HTTPPage(envelope.items, next: envelope.next)
                }
            print(cached, paged)
        }

        static func client(company: HTTPClient.Configuration) {
            let companyTLS = company.tlsConfiguration
            var configuration = HTTPClient.Configuration()
            configuration.tlsConfiguration = companyTLS
            let client = HTTPRemoteClient(configuration, connectTimeout: .seconds(3))
            let tasks = HTTPRemote("https://tasks.internal/all", client: client)
            print(tasks)
        }

        private static func rest(_ session: Session, _ account: Account) {
            var rest = RESTConfiguration("https://api.example.com/v1") { _ in
                ["Authorization": "Bearer \(await session.token)"]
            }
            rest.pagination = .cursor(field: "next", parameter: "after")
            rest.itemsField = "items"
            rest.pollingInterval = .seconds(30)
            rest.queryMapping = RESTQueryMapping { query in
                try query.getFilters().map { URLQueryItem(name: $0.field, value: try RESTQueryMapping.text($0.value)) }
            }
            let watchlistSyncEngine = CollectionSyncEngine<Movie>(
                remote: RESTRemoteCollectionService(rest) { account.user.map { "users/\($0)/watchlist" } },
                managerKey: "watchlist")
            let userSyncEngine = DocumentSyncEngine<UserModel>(
                remote: RESTRemoteDocumentService(rest) { "users" }, managerKey: "user")
            print(watchlistSyncEngine, userSyncEngine)
        }

        static func hub(_ token: String) async throws {
            let hub = try Hub("https://hub.example", token: token)
            let products = CollectionSyncEngine<Product>(
                remote: hub.collection("products"), managerKey: "products")
            await products.startListening()
        }

        static func hubDocument(_ token: String) async throws {
            let hub = try Hub("https://hub.example", token: token)
            let notes: HubCollection<Note> = hub.collection("notes")
            let note = try await notes.getDocument(id: "1")
            print(note)
        }
    }
#endif
