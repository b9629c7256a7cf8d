#if STORAGE_HTTP && STORAGE_SERVER
    import AsyncHTTPClient
    import Foundation
    import HTTPTypes
    import Hummingbird
    import HummingbirdCore
    import HummingbirdHTTP2
    import HummingbirdTLS
    import Logging
    import NIOCore
    import NIOSSL
    import TestSupport
    import StorageHTTP
    import Synchronization

    /// A server on 127.0.0.1 with TLS and a certificate of its own, which answers rows.
    final class TLSServer: Sendable {
        enum Version: CaseIterable { case http1, http2 }

        struct Asked: Equatable {
            let path: String
            let isHTTP2: Bool
            let hasCondition: Bool
        }

        /// Knows whether a request came over a stream of HTTP/2, which is a channel of a connection's channel.
        struct Context: RequestContext {
            var coreContext: CoreRequestContextStorage
            let isHTTP2: Bool

            init(source: ApplicationRequestContextSource) {
                coreContext = CoreRequestContextStorage(source: source)
                isHTTP2 = source.channel.parent?.parent != nil
            }
        }

        private let state = Mutex<[Asked]>([])
        private let chain: [NIOSSLCertificate]
        private let port = Mutex(0)

        var requests: [Asked] { state.withLock { $0 } }
        var origin: String { "https://127.0.0.1:\(port.withLock { $0 })" }

        private init(_ chain: [NIOSSLCertificate]) { self.chain = chain }

        /// The configuration of a client that trusts the server's certificate and no other.
        var trusting: HTTPClient.Configuration {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(chain)
            return HTTPClient.Configuration(tlsConfiguration: tls)
        }

        func remote(_ configuration: HTTPClient.Configuration, _ path: String = "/rows") -> HTTPRemote {
            HTTPRemote(origin + path, client: HTTPRemoteClient(configuration))
        }

        /// Runs a server for as long as `body` runs.
        ///
        /// - Parameters:
        ///   - name: Whom the certificate is of, as an alternative name of its subject.
        ///   - rows: What is answered, in two pages at `/pages`, and with a tag elsewhere.
        static func run(
            _ version: Version, name: String = "IP:127.0.0.1", rows: [Chore] = [],
            _ body: @Sendable (TLSServer) async throws -> Void
        ) async throws {
            let folder = try TemporaryFolder()
            let (chain, key) = try certificate(of: name, in: folder.url)
            let server = TLSServer(chain)
            let tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let (running, started) = AsyncStream.makeStream(of: Int.self)
            let app = Application(
                router: server.router(rows),
                server: try version == .http1 ? .tls(tlsConfiguration: tls) : .http2Upgrade(tlsConfiguration: tls),
                configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { started.yield($0.localAddress?.port ?? 0) }, logger: logger)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { started.finish() }
                    try await app.run()
                }
                for await port in running {
                    server.port.withLock { $0 = port }
                    try await body(server)
                    break
                }
                group.cancelAll()
            }
        }

        private func router(_ rows: [Chore]) -> Hummingbird.Router<Context> {
            let router = Hummingbird.Router(context: Context.self)
            router.get("**") { request, context -> Response in
                let tag = request.headers[.ifNoneMatch]
                self.state.withLock {
                    $0.append(
                        Asked(path: request.uri.path, isHTTP2: context.isHTTP2, hasCondition: tag != nil))
                }
                var headers: HTTPFields = [.contentType: "application/json"]
                var body = rows
                if request.uri.path == "/pages" {
                    let isFirst = request.uri.query == nil
                    body = isFirst ? Array(rows.prefix(1)) : Array(rows.dropFirst())
                    if isFirst, let link = HTTPField.Name("Link") { headers[link] = "</pages?2>; rel=\"next\"" }
                } else {
                    headers[.eTag] = "\"1\""
                    if tag == "\"1\"" { return Response(status: .notModified, headers: headers) }
                }
                return Response(
                    status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: body.json)))
            }
            return router
        }

        private struct NoCertificate: Error { let status: Int32 }

        private static func certificate(
            of name: String, in folder: URL
        ) throws -> ([NIOSSLCertificate], NIOSSLPrivateKey) {
            let (key, certificate) = (
                folder.appendingPathComponent("key.pem").path, folder.appendingPathComponent("certificate.pem").path
            )
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=test", "-addext",
                "subjectAltName=\(name)",
            ]
            process.standardError = FileHandle.nullDevice
            try process.start()
            process.waitForEnd()
            guard process.terminationStatus == 0 else { throw NoCertificate(status: process.terminationStatus) }
            return (
                try NIOSSLCertificate.fromPEMFile(certificate), try NIOSSLPrivateKey(file: key, format: .pem)
            )
        }
    }
#endif
