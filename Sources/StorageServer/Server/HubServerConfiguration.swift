/// The address, TLS, and limits of a hub's server.
///
/// ```swift
/// var configuration = HubServerConfiguration()
/// configuration.host = "0.0.0.0"
/// configuration.hosts = ["hub.example"]
/// configuration.tls = .init(certificateChainFile: "chain.pem", privateKeyFile: "key.pem")
/// ```
public struct HubServerConfiguration: Sendable {
    /// The PEM files for HTTPS.
    public struct TLS: Sendable {
        /// The server's certificate, followed by its intermediate certificates.
        public var certificateChainFile: String
        /// The private key of the server's certificate.
        public var privateKeyFile: String

        /// Creates a configuration from two PEM files.
        public init(certificateChainFile: String, privateKeyFile: String) {
            self.certificateChainFile = certificateChainFile
            self.privateKeyFile = privateKeyFile
        }
    }

    /// The address to listen on; `127.0.0.1` is reachable only from this machine.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for any free port.
    public var port = 8080
    /// The files for HTTPS; nil for HTTP, on this machine or behind a proxy that terminates HTTPS.
    public var tls: TLS?
    /// The host names that requests may use, as in `Host`; empty for any.
    public var hosts: Set<String> = []
    /// The origins of web pages whose scripts may use the hub, such as `https://app.example`; pages served by the hub
    /// itself are always allowed.
    public var origins: Set<String> = []
    /// The limits of what clients may send.
    public var limits = HubLimits()

    /// Creates a configuration for clients on this machine.
    public init() {}
}
