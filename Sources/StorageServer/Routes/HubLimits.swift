/// The limits of what a hub accepts from its clients.
///
/// ```swift
/// var configuration = HubServerConfiguration()
/// configuration.limits.requestsPerSecond = 50
/// ```
public struct HubLimits: Sendable {
    /// Bytes of a request's body. Larger documents can't be sent.
    public var bodyBytes = 8 << 20
    /// Bytes of all bodies that are being received or sent. Requests beyond that are rejected and may be retried later.
    public var bodyBytesAtOnce = 256 << 20
    /// Writes of one batch.
    public var batchWrites = 1_000
    /// Documents and changes of one answer.
    public var pageCount = 1_000
    /// Requests of one token in a second, on average.
    public var requestsPerSecond = 200.0
    /// Requests of one token at once, after a pause.
    public var requestBurst = 400.0
    /// Streams, live queries and waiting pulls of one token.
    public var streamsPerToken = 2_000
    /// Bytes of the results of all live queries, which are kept while they are followed. Live queries beyond that are
    /// refused and may be retried later.
    public var liveQueryBytes = 256 << 20
    /// Clients that have written with sessions under the name of one token. They are stored permanently, so that none
    /// of their writes is applied twice.
    public var producersPerToken = 10_000
    /// Requests with an `Idempotency-Key` under the name of one token that are remembered: the latest ones.
    public var keysPerToken = 10_000
    /// Connections to the server.
    public var connections = 10_000
    /// Seconds for a request's body, and one more for each 16 KiB of it that have arrived; seconds for the rest of it
    /// once it is answered.
    public var bodySeconds = 30
    /// Seconds without a byte after which a connection is closed that is idle or sending a request.
    public var idleSeconds = 60
    /// Seconds after which a connection is closed whose client doesn't read its answer.
    public var writeSeconds = 30
    /// The same while the server shuts down.
    public var lastWriteSeconds = 5

    /// The slowest rate at which a large body may arrive.
    static let bodyBytesPerSecond = 16 << 10

    /// Creates the default limits.
    public init() {}
}
