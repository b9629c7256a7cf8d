internal import StorageLog

/// How a projection is doing.
///
/// ```swift
/// for projection in try await storage.projections.status() where projection.state == .failed {
///     print(projection.name, projection.failedPosition ?? 0, projection.error ?? "")
/// }
/// ```
public struct ProjectionStatus: Sendable, Hashable {
    /// The state of a projection.
    public enum State: String, Sendable, Hashable {
        /// It follows the log.
        case running
        /// It was paused by a call or a command.
        case paused
        /// It threw, and is stalled before the commit that it failed to apply.
        case failed
        /// The command line has emptied it; the program that declares it rebuilds it when it next opens the store.
        case reset
    }

    /// The projection's name.
    public let name: String
    /// The version of its tables.
    public let version: Int
    /// `inline`, `async` or, for a full-text index, `full-text`.
    public let kind: String
    /// Whether it runs, is paused, has failed or was reset.
    public let state: State
    /// The last position that it has applied.
    public let position: Int64
    /// The last position to apply.
    public let head: Int64
    /// The last position of replayed history, for which a ``SideEffectingProjection`` isn't called.
    public let replayedThrough: Int64
    /// Why it failed, in words.
    public let error: String?
    /// The first position of the commit that it failed to apply.
    public let failedPosition: Int64?
    /// The number of its dead letters.
    public let deadLetters: Int
    /// The number of events that it has applied since it was created or reset.
    public let events: Int64
    /// The total time that applying these events took, in seconds.
    public let seconds: Double
    /// The time of its last batch, in microseconds since 1970 UTC; nil before the first.
    public let lastBatch: Int64?
    /// The size of its tables and indexes in the file, in bytes.
    public let bytes: Int64
    /// The tables that belong to it.
    public let tables: [String]

    /// How many positions it is behind.
    public var lag: Int64 { head - position }
    /// Seconds per event, over all applied events; nil before the first.
    public var secondsPerEvent: Double? { events > 0 ? seconds / Double(events) : nil }
    /// Events per second of its working time, over all applied events; nil before the first.
    public var eventsPerSecond: Double? { seconds > 0 ? Double(events) / seconds : nil }
}

extension ProjectionStatus: CustomStringConvertible {
    /// The status in one line: `totals 2 (async): failed at @101, 39 behind, 2 dead letters: no such column`.
    public var description: String {
        var parts = [failedPosition.map { "\(state.rawValue) at @\($0)" } ?? "\(state.rawValue) @\(position)"]
        if lag > 0 { parts.append("\(lag) behind") }
        if deadLetters > 0 { parts.append(ChangeText.number(deadLetters, "dead letter")) }
        return "\(name) \(version) (\(kind)): \(parts.joined(separator: ", "))" + (error.map { ": \($0)" } ?? "")
    }
}
