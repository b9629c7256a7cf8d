/// The limits of what a hub accepts from its clients.
///
/// ```swift
/// var configuration = HubServerConfiguration()
/// configuration.limits.requestsPerSecond = 50
/// ```
public struct HubLimits: Sendable {
    /// The maximum size of a request's body, in bytes. Larger documents can't be sent.
    public var bodyBytes = 8 << 20
    /// The maximum size of all bodies that are being received or sent, in bytes. Further requests are rejected and may
    /// be retried later.
    public var bodyBytesAtOnce = 256 << 20
    /// The maximum number of writes in a batch.
    public var batchWrites = 1_000
    /// The maximum number of documents or changes in an answer.
    public var pageCount = 1_000
    /// The maximum average number of requests per second with one token.
    public var requestsPerSecond = 200.0
    /// The maximum number of requests with one token at once, after a pause.
    public var requestBurst = 400.0
    /// The maximum number of streams, live queries and waiting pulls with one token.
    public var streamsPerToken = 2_000
    /// The maximum size of the results of all live queries, in bytes; they are kept while they are followed. Further
    /// live queries are refused and may be retried later.
    public var liveQueryBytes = 256 << 20
    /// The maximum number of clients that have written with sessions under the name of one token. They are stored
    /// permanently, so that none of their writes is applied twice.
    public var producersPerToken = 10_000
    /// The number of latest requests with an `Idempotency-Key` that are remembered under the name of one token.
    public var keysPerToken = 10_000
    /// The maximum number of connections to the server.
    public var connections = 10_000
    /// The time in seconds for a request's body, plus one for each 16 KiB that have arrived; also the time for the rest
    /// of a body once its request is answered.
    public var bodySeconds = 30
    /// The time in seconds after which a connection is closed if it is idle or sending a request and no byte arrives.
    public var idleSeconds = 60
    /// The time in seconds after which a connection is closed if its client doesn't read the answer.
    public var writeSeconds = 30
    /// The same as ``writeSeconds``, while the server shuts down.
    public var lastWriteSeconds = 5

    /// The slowest rate at which a large body may arrive.
    static let bodyBytesPerSecond = 16 << 10

    /// Creates the default limits.
    public init() {}
}
