#if STORAGE_HTTP
    public import AsyncHTTPClient
    internal import Foundation
    internal import NIOCore

    /// The connections that remotes share, and their settings: TLS, proxy, timeout.
    ///
    /// Most programs need ``shared`` only. Create a client for a certificate authority of your own, a proxy, or another
    /// timeout:
    ///
    /// ```swift
    /// var configuration = HTTPClient.Configuration()
    /// configuration.tlsConfiguration = companyTLS
    /// let client = HTTPRemoteClient(configuration, connectTimeout: .seconds(3))
    /// let tasks = HTTPRemote("https://tasks.internal/all", client: client)
    /// ```
    ///
    /// It isn't an `HTTPClient`, because a remote's guarantees depend on settings that can't be read from one. Whatever
    /// the configuration says, this client doesn't follow redirects by itself, since `HTTPClient` would send all but
    /// four headers to another host; it doesn't decompress bodies, which could then be a thousand times larger; and it
    /// doesn't retry connecting, since the source does that with back-off.
    ///
    /// Connections are closed when the last reference to the client is released. Keep it as long as its remotes are in
    /// use: each client has its own connections.
    ///
    /// Isolation: `Sendable`; may be used from anywhere.
    public final class HTTPRemoteClient: Sendable {
        /// The program's shared client, with the system's certificates, no proxy, and 10 seconds to connect.
        public static let shared = HTTPRemoteClient()

        let client: HTTPClient
        let connectTimeout: Duration

        /// Creates a client.
        ///
        /// - Parameters:
        ///   - configuration: TLS, proxy, connections per host and the like. Its redirects, decompression, connection
        ///     retries and timeouts are ignored.
        ///   - connectTimeout: The time limit for connecting, including TLS. From a millisecond to a day.
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
            // The remote limits the time of a whole request.
            configuration.timeout.read = nil
            configuration.timeout.write = nil
            configuration.timeout.connect = .milliseconds(Int64(seconds * 1_000))
            client = HTTPClient(configuration: configuration)
        }

        deinit {
            // The client keeps itself alive until its connections are closed. They aren't used any more, so errors are irrelevant.
            client.shutdown { _ in }
        }
    }
#endif
