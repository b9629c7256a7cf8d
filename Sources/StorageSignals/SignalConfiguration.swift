/// What a ``SignalReporter`` reports, and how often.
public struct SignalConfiguration: Sendable {
    /// Writes that take so long are logged.
    public var slowCommit: Duration
    /// Reads that take so long are logged.
    public var slowRead: Duration
    /// How often counters and gauges are brought up to date.
    public var interval: Duration
    /// How many writes and reads may wait to be reported; the oldest are dropped.
    public var queueLength: Int
    /// What all metrics carry, such as the store's name where there are several.
    public var dimensions: [(String, String)]

    public init(
        slowCommit: Duration = .milliseconds(100), slowRead: Duration = .milliseconds(100),
        interval: Duration = .seconds(10), queueLength: Int = 4_096, dimensions: [(String, String)] = []
    ) {
        self.slowCommit = slowCommit
        self.slowRead = slowRead
        self.interval = interval
        self.queueLength = queueLength
        self.dimensions = dimensions
    }
}
