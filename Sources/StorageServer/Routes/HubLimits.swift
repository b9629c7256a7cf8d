/// What a hub takes from its clients, at the most.
public struct HubLimits: Sendable {
    /// Bytes of a request's body. A document that is larger can't be sent.
    public var bodyBytes = 8 << 20
    /// Bytes of all bodies that are being received, or answered. Requests beyond them are to come again later.
    public var bodyBytesAtOnce = 256 << 20
    /// Writes of one batch.
    public var batchWrites = 1_000
    /// Documents and changes of one answer.
    public var pageCount = 1_000
    /// Requests of one token in a second, on average.
    public var requestsPerSecond = 200.0
    /// Requests of one token at once, after a while of silence.
    public var requestBurst = 400.0
    /// Streams and waiting pulls of one token.
    public var streamsPerToken = 2_000
    /// Clients that have written by sessions under the name of one token. They are kept for ever, so that none of their writes is made
    /// twice.
    public var producersPerToken = 10_000
    /// Requests with an `Idempotency-Key` under the name of one token that are remembered: the last ones.
    public var keysPerToken = 10_000
    /// Connections to the server.
    public var connections = 10_000
    /// Seconds that a request's body may take, and what is left of it once it is answered.
    public var bodySeconds = 30
    /// Seconds without a byte after which a connection is closed that sends a request, or none.
    public var idleSeconds = 60
    /// Seconds after which a connection is closed whose client takes nothing of what it is answered.
    public var writeSeconds = 30
    /// The same while the server shuts down.
    public var lastWriteSeconds = 5

    public init() {}
}
