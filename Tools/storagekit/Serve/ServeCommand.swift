import ArgumentParser
import Foundation
import StorageKit
import StorageServer

#if STORAGE_SERVER
    import Logging
    import ServiceLifecycle
    import UnixSignals
#endif

/// `storagekit serve`: serves a store as a hub.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve a store as a hub over HTTP.",
        discussion: """
            Clients need a token: storagekit tokens create. The protocol is at /openapi.json, a client for browsers at \
            /storagekit.js, and /health says whether the store can be read. SIGTERM and Ctrl-C end streams, finish \
            requests for up to 30 seconds, and close the store; a second signal exits at once. If the disk fails or is \
            full, the server ends with an error: start it again once that is fixed.

              storagekit serve -s hub.sqlite --create
              storagekit serve -s hub.sqlite --host 0.0.0.0 --port 8443 --tls-certificate chain.pem --tls-key key.pem
              storagekit serve -s hub.sqlite --origin https://app.example

            Without TLS, serve on this machine only, behind a proxy that speaks HTTPS.
            """)

    @OptionGroup var store: StoreOption

    @Flag(help: "Create the store if it doesn't exist.")
    var create = false

    @Option(help: "The address to serve on.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 for any free port.")
    var port = 8080

    @Option(help: "The server's certificate and those behind it, as a PEM file.")
    var tlsCertificate: String?

    @Option(help: "The certificate's key, as a PEM file.")
    var tlsKey: String?

    @Option(help: "An origin whose pages may use the hub. May be repeated.")
    var origin: [String] = []

    @Option(
        help: """
            A host name that requests may use; may be repeated. Default: localhost and its addresses if it serves on \
            one of those, otherwise any.
            """)
    var hostName: [String] = []

    @Option(help: "Maximum bytes of a request body.")
    var maximumBody = 8 << 20

    @Option(help: "Maximum requests per second and token.")
    var maximumRate = 200

    @Option(help: "Maximum number of connections.")
    var maximumConnections = 10_000

    @Flag(help: "Log each request.")
    var verbose = false

    func validate() throws {
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key go together.")
        }
        guard (0...65_535).contains(port), maximumBody > 0, maximumRate > 0, maximumConnections > 0 else {
            throw ValidationError("A port is from 0 to 65535, and a limit is 1 or more.")
        }
    }

    func run() async throws {
        #if STORAGE_SERVER
            try await serve()
        #else
            throw CommandError(
                .usage, "This storagekit was built without its server.",
                next: "Build it with: swift build --traits Server")
        #endif
    }
}

#if STORAGE_SERVER
    extension ServeCommand {
        private func serve() async throws {
            let path = try store.path()
            // A wrong name must not create a store.
            if !create { try await store.openForReading().close() }
            let storage = try Storage.open(path: path)
            do {
                try await storage.checkEnd()
            } catch {
                storage.engine.closeNow()
                throw error
            }
            do {
                try await run(storage, at: path)
                try await storage.close()
            } catch {
                // What was committed stays; an error of closing would hide the original one.
                try? await storage.close()
                throw error
            }
        }

        private func run(_ storage: Storage, at path: String) async throws {
            LoggingSystem.bootstrap(StreamLogHandler.standardError)
            var logger = Logger(label: "storagekit.hub")
            logger.logLevel = verbose ? .debug : .notice
            let tokens = try HubTokenFile(besideStore: path)
            let scheme = tlsCertificate == nil ? "http" : "https"
            let host = host.contains(":") ? "[\(host)]" : host
            let hasTokens = try await !tokens.all().isEmpty
            let server = try await HubServer(
                storage, tokens: tokens, configuration: configuration, logger: logger,
                onRunning: { port in
                    // It serves even if the announcement can't be written.
                    try? Self.announce("\(scheme)://\(host):\(port)", of: path, hasTokens: hasTokens)
                })
            var services = ServiceGroupConfiguration(services: [server], logger: logger)
            services.maximumGracefulShutdownDuration = .seconds(30)
            let group = ServiceGroup(configuration: services)
            // Before the server is announced.
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            let ending = Task { await Self.end(group, by: signals) }
            let failing = Task { await Self.end(group, whenFailed: storage) }
            defer {
                ending.cancel()
                failing.cancel()
            }
            do {
                try await group.run()
                try storage.engine.checkUsable()
            } catch let error as StorageError {
                throw error
            } catch {
                throw CommandError(
                    .inconclusive, "The hub can't serve on \(host):\(port).", why: "\(error)",
                    next: "Name an address of this machine, and a port that is free.")
            }
        }

        /// The first signal shuts down gracefully; the second one ends the server at once. Acknowledged writes are already durable.
        private static func end(_ group: ServiceGroup, by signals: UnixSignalsSequence) async {
            var isEnding = false
            for await signal in signals {
                if isEnding { _exit(128 + signal.rawValue) }
                isEnding = true
                await group.triggerGracefulShutdown()
            }
        }

        /// After a failure of its disk, a store must be opened again: the server ends, and its supervisor starts another one.
        private static func end(_ group: ServiceGroup, whenFailed storage: Storage) async {
            let bell = storage.engine.commitBell()
            if storage.engine.hasFailed { return await group.triggerGracefulShutdown() }
            for await _ in bell where storage.engine.hasFailed { return await group.triggerGracefulShutdown() }
        }

        private static func announce(_ url: String, of path: String, hasTokens: Bool) throws {
            let output = StandardOutput()
            try output.writeLine("Serving on \(url)")
            if !hasTokens {
                try output.writeLine(
                    "There are no tokens yet. Type: storagekit tokens -s \(path.quotedAsShellWord) create NAME --write '*'"
                )
            }
            try output.flush()
        }

        private var configuration: HubServerConfiguration {
            var configuration = HubServerConfiguration()
            configuration.host = host
            configuration.port = port
            if let tlsCertificate, let tlsKey {
                configuration.tls = .init(certificateChainFile: tlsCertificate, privateKeyFile: tlsKey)
            }
            configuration.origins = Set(origin)
            // A request to a loopback address under another name comes from a page whose own name resolves to this machine (DNS rebinding), or
            // through a proxy.
            let loopback: Set = ["localhost", "127.0.0.1", "[::1]"]
            let isLoopback = loopback.contains(host) || host == "::1" || host.hasPrefix("127.")
            configuration.hosts = Set(hostName)
            if hostName.isEmpty, isLoopback { configuration.hosts = loopback.union([host]) }
            configuration.limits.bodyBytes = maximumBody
            configuration.limits.requestsPerSecond = Double(maximumRate)
            configuration.limits.requestBurst = 2 * Double(maximumRate)
            configuration.limits.connections = maximumConnections
            return configuration
        }
    }
#endif
