#if STORAGE_HTTP
    public import AsyncHTTPClient
    internal import Foundation
    internal import NIOCore

    /// The connections that remotes share, and how they are made: TLS, proxy, how long to wait for one.
    ///
    /// Most programs need ``shared`` only. A client of your own is for a certificate authority of your own, a proxy, or
    /// another timeout:
    ///
    /// ```swift
    /// var configuration = HTTPClient.Configuration()
    /// configuration.tlsConfiguration = companyTLS
    /// let client = HTTPRemoteClient(configuration, connectTimeout: .seconds(3))
    /// let tasks = HTTPRemote("https://tasks.internal/all", client: client)
    /// ```
    ///
    /// It isn't an `HTTPClient`, because what a remote promises depends on settings that such a client can't be asked for.
    /// Whatever the configuration says, this one follows no redirect by itself, as `HTTPClient` would send all headers but
    /// four to another host. It doesn't unpack bodies, which may be a thousand times larger unpacked. And it doesn't try
    /// again to connect, because the source does that, later and later.
    ///
    /// Connections are closed when nobody holds the client any more. Hold it for as long as its remotes are used: each
    /// client has connections of its own.
    ///
    /// Isolation: `Sendable`; to be used from anywhere.
    public final class HTTPRemoteClient: Sendable {
        /// The one of the program, with the system's certificates, without a proxy, and 10 seconds to connect.
        public static let shared = HTTPRemoteClient()

        let client: HTTPClient
        let connectTimeout: Duration

        /// - Parameters:
        ///   - configuration: TLS, proxy, connections per host and the like. Its redirects, decompression, and retries of
        ///     connecting don't count, and the only one of its timeouts is the one given here.
        ///   - connectTimeout: How long connecting may take, with TLS. From a millisecond to a day.
        public init(
            _ configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
            connectTimeout: Duration = .seconds(10)
        ) {
            let seconds = min(max(connectTimeout / .seconds(1), 0.001), 86_400)
            self.connectTimeout = .seconds(seconds)
            var configuration = configuration
            configuration.redirectConfiguration = .disallow
            configuration.decompression = .disabled
            configuration.connectionPool.retryConnectionEstablishment = false
            // The time of a whole request is the remote's own.
            configuration.timeout.read = nil
            configuration.timeout.write = nil
            configuration.timeout.connect = .milliseconds(Int64(seconds * 1_000))
            client = HTTPClient(configuration: configuration)
        }

        deinit {
            // It keeps itself alive until its connections are closed. They are nobody's, so nothing can go wrong that
            // somebody would have to know.
            client.shutdown { _ in }
        }
    }
#endif
