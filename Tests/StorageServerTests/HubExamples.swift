#if STORAGE_SERVER
    import AsyncHTTPClient
    import Foundation
    import Hummingbird
    import Logging
    import NIOHTTP1
    import TestSupport
    import ServiceLifecycle
    import StorageEntities
    import StorageHTTP
    import StorageKit
    import StorageLifecycle
    import StorageServer
    import StorageSync
    import Testing
    import UnixSignals

    /// What the page about hubs shows, on a hub that serves.
    @MainActor @Suite(.serialized, .timeLimit(.minutes(10))) struct HubExamples {
        @StorageEntity
        struct Note: DataSyncModelProtocol, Equatable {
            var id: String
            var text: String
        }

        /// Compiled, and not run: the container of a program is named once.
        private func configure(_ url: URL) throws {
            PersistenceContainer.configure(try .file(at: url) { $0.autoSchema(NoteRecord.self) })
        }

        @Test("From local to synced")
        func fromLocalToSynced() async throws {
            try await ServedHub.run { hub in
                let folder = try TemporaryFolder()
                let token = try await hub.token()
                try await Self.sync(URL(fileURLWithPath: folder.path("notes.sqlite")), hub.url, token)
                let read = try await hub.send(.GET, "/v1/collections/notes/documents/1", token: token)
                #expect(read.status == 200)
                #expect(read.body.contains("Buy milk"))
            }
        }

        private static func sync(_ url: URL, _ address: String, _ token: String) async throws {
            let container = try PersistenceContainer.file(at: url) { $0.autoSchema(NoteRecord.self) }
            try await withDatabaseContainer(container) {
                let hub = try Hub(address, token: token)
                let notes = CollectionSyncEngine<Note>(remote: hub.collection("notes"), managerKey: "notes")
                await notes.startListening()
                try await notes.saveDocument(Note(id: "1", text: "Buy milk")).confirmed()
            }
            try await container.storage.close()
        }

        /// The one of an application; the package has another for itself.
        private typealias Router = Hummingbird.Router<BasicRequestContext>

        @Test("Middleware of your own")
        func middlewareOfYourOwn() async throws {
            let folder = try TemporaryFolder()
            let url = URL(fileURLWithPath: folder.path("hub.sqlite"))
            let storage = try StorageKit.start(at: url).facade
            let tokens = try HubTokenFile(besideStore: url.path)
            let router = Router()
            router.addMiddleware {
                TracingMiddleware()
                MetricsMiddleware()
            }
            let hub = try await HubRoutes(storage, tokens: tokens)
            hub.addRoutes(to: router, under: "/hub")
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let application = Application(
                router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: logger)
            let serving = Task { try await application.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            let health = try await HTTPClient.shared.get(url: "http://127.0.0.1:\(port)/hub/health").get()
            #expect(health.status == .ok)
            hub.stop()
            serving.cancel()
            try await serving.value
            try await storage.close()
        }

        @Test("A server of your own")
        func serverOfYourOwn() async throws {
            let folder = try TemporaryFolder()
            let url = URL(fileURLWithPath: folder.path("hub.sqlite"))
            let storage = try StorageKit.start(at: url).facade
            var configuration = HubServerConfiguration()
            configuration.port = 0
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let tokens = try HubTokenFile(besideStore: url.path)
            let server = try await HubServer(storage, tokens: tokens, configuration: configuration)
            let group = ServiceGroup(
                services: [StorageService(storage), server], gracefulShutdownSignals: [.sigterm], logger: logger)
            async let running: Void = group.run()
            await group.triggerGracefulShutdown()
            try await running
        }
    }
#endif
