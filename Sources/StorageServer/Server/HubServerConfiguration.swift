/// Where and how a hub serves.
public struct HubServerConfiguration: Sendable {
    /// Files in PEM format for HTTPS.
    public struct TLS: Sendable {
        /// The server's certificate, and those behind it up to one that clients know.
        public var certificateChainFile: String
        public var privateKeyFile: String

        public init(certificateChainFile: String, privateKeyFile: String) {
            self.certificateChainFile = certificateChainFile
            self.privateKeyFile = privateKeyFile
        }
    }

    /// An address of this machine; only this machine reaches `127.0.0.1`.
    public var host = "127.0.0.1"
    /// 0 for one that is free.
    public var port = 8080
    /// Nil for HTTP: on this machine, and behind a proxy that speaks HTTPS.
    public var tls: TLS?
    /// Names by which the server may be asked, as in `Host`; empty for any.
    public var hosts: Set<String> = []
    /// Origins of pages whose scripts may use the hub, as `https://app.example`; pages of the hub itself always may.
    public var origins: Set<String> = []
    public var limits = HubLimits()

    public init() {}
}
