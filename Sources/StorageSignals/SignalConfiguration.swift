/// What a ``SignalReporter`` reports, and how often.
public struct SignalConfiguration: Sendable {
    /// Writes that take this long or longer are logged.
    public var slowCommit: Duration
    /// Reads that take this long or longer are logged.
    public var slowRead: Duration
    /// The interval at which counters and gauges are updated.
    public var interval: Duration
    /// The maximum number of writes and reads that wait to be reported; beyond it the oldest are dropped.
    public var queueLength: Int
    /// The dimensions of all metrics, such as the store's name if there are several stores.
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
