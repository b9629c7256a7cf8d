#if STORAGE_SERVER
    internal import Hummingbird
    internal import HummingbirdCore
    internal import HummingbirdTLS
    public import Logging
    internal import NIOCore
    internal import NIOSSL
    public import ServiceLifecycle
    internal import StorageCore
    public import StorageKit

    /// A hub that serves a store over HTTP: clients write to the store and follow it.
    ///
    /// ```swift
    /// let server = try await HubServer(storage, tokens: HubTokenFile(besideStore: path))
    /// let group = ServiceGroup(
    ///     services: [StorageService(storage), server], gracefulShutdownSignals: [.sigterm], logger: logger)
    /// try await group.run()
    /// ```
    ///
    /// On a graceful shutdown no more connections are accepted, current requests are answered, streams and waiting
    /// pulls end, and ``run()`` returns; the store stays open. Clients that don't read their answers delay it by
    /// ``HubLimits/lastWriteSeconds``. Set the group's `maximumGracefulShutdownDuration` to limit slow clients.
    ///
    /// Isolation: `Sendable`.
    public struct HubServer: Service {
        private let routes: HubRoutes
        private let configuration: HubServerConfiguration
        private let logger: Logger
        private let onRunning: @Sendable (_ port: Int) async -> Void

        /// Creates a server.
        ///
        /// - Parameters:
        ///   - onRunning: Called with the port once connections are accepted.
        /// - Throws: `StorageError` with `read-only` if the store can't be written; errors of the store.
        public init(
            _ storage: Storage, tokens: HubTokenFile, configuration: HubServerConfiguration = HubServerConfiguration(),
            logger: Logger = Logger(label: "storagekit.hub"),
            onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
        ) async throws {
            routes = try await HubRoutes(
                storage, tokens: tokens, origins: configuration.origins, hosts: configuration.hosts,
                limits: configuration.limits, logger: logger)
            self.configuration = configuration
            self.logger = logger
            self.onRunning = onRunning
        }

        /// Serves until the service group shuts down, or the task is cancelled.
        ///
        /// - Throws: An error if the address is in use or isn't this machine's, or if a file of
        ///   ``HubServerConfiguration/TLS`` can't be read.
        public func run() async throws {
            let router = Router(context: BasicRequestContext.self)
            routes.addRoutes(to: router)
            let limits = configuration.limits
            let base = HTTPServerBuilder.http1(
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [ConnectionLimiter(limits)],
                    idleTimeout: .seconds(Int64(limits.idleSeconds)),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100)))
            // The library's own loggers are too verbose for a server's log.
            var quiet = logger
            quiet.logLevel = max(logger.logLevel, .warning)
            let application = Application(
                router: router, server: try configuration.tls.map { try Self.tls(base, $0) } ?? base,
                configuration: ApplicationConfiguration(
                    address: .hostname(configuration.host, port: configuration.port), serverName: nil,
                    availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: quiet)),
                onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? configuration.port) },
                logger: quiet)
            try await withGracefulShutdownHandler {
                try await application.run()
            } onGracefulShutdown: {
                routes.stop()
            }
        }

        private static func tls(
            _ base: HTTPServerBuilder, _ files: HubServerConfiguration.TLS
        ) throws -> HTTPServerBuilder {
            do {
                let chain = try NIOSSLCertificate.fromPEMFile(files.certificateChainFile)
                let key = try NIOSSLPrivateKey(file: files.privateKeyFile, format: .pem)
                var configuration = TLSConfiguration.makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
                configuration.minimumTLSVersion = .tlsv12
                configuration.applicationProtocols = ["http/1.1"]
                return try .tls(base, tlsConfiguration: configuration)
            } catch {
                throw StorageError(
                    .ioError, "The certificate or its key can't be used: \(error).",
                    remedy:
                        "Name PEM files that this process may read: the chain, the server's own certificate first, and its key."
                )
            }
        }
    }

    extension HubServer: CustomStringConvertible {
        /// The name in a service group's log.
        public var description: String { "HubServer" }
    }
#endif
