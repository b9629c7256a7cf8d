#if STORAGE_SERVER
    import Hummingbird
    import Logging
    import ServiceLifecycle
    import StorageKit
    import StorageLifecycle
    import StorageServer
    import UnixSignals

    /// The examples of the module's comments, compiled and not run. `DocumentationTests` compares them with this file.
    enum CommentExamples {
        static func routes(
            _ storage: Storage, path: String, router: Hummingbird.Router<BasicRequestContext>
        ) async throws {
            let hub = try await HubRoutes(storage, tokens: HubTokenFile(besideStore: path))
            hub.addRoutes(to: router, under: "/hub")
        }

        static func server(_ storage: Storage, path: String, logger: Logger) async throws {
            let server = try await HubServer(storage, tokens: HubTokenFile(besideStore: path))
            let group = ServiceGroup(
                services: [StorageService(storage), server], gracefulShutdownSignals: [.sigterm], logger: logger)
            try await group.run()
        }

        static func tokens() async throws {
            let tokens = try HubTokenFile(besideStore: "app.sqlite")
            let (token, text) = try await tokens.create(name: "ada", grants: [try HubGrant(entity: nil, writes: true)])
            print("give this to Ada:", text)
            try await tokens.revoke(token.id)
            let grant = try HubGrant(entity: "notes", reads: true, writes: true, condition: "owner = 'ada'")
            print(grant)
        }

        static func configuration() -> HubServerConfiguration {
            var configuration = HubServerConfiguration()
            configuration.host = "0.0.0.0"
            configuration.hosts = ["hub.example"]
            configuration.tls = .init(certificateChainFile: "chain.pem", privateKeyFile: "key.pem")
            return configuration
        }

        static func limits() -> HubServerConfiguration {
            var configuration = HubServerConfiguration()
            configuration.limits.requestsPerSecond = 50
            return configuration
        }
    }
#endif
