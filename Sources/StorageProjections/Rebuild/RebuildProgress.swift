/// How far a rebuild has come.
public struct RebuildProgress: Sendable, Hashable {
    public enum Phase: String, Sendable {
        /// The log is being read and the new tables are being filled, while commits go on.
        case reading
        /// New and old tables are being compared, while commits go on.
        case comparing
        /// The new tables take the places of the old, and commits wait.
        case swapping
    }

    public let phase: Phase
    /// The events that were read or passed over, counted for each table.
    public let completed: Int64
    /// What ``completed`` will be once the tables have come up with the log.
    public let total: Int64
    /// Since the rebuild began.
    public let elapsed: Duration

    /// What part of the reading is done, from 0 to 1.
    public var fraction: Double { total > 0 ? min(Double(completed) / Double(total), 1) : 1 }

    /// The time that the rest of the reading takes if it goes on as it has; nil before anything can be said.
    public var remaining: Duration? {
        guard completed > 0, phase == .reading else { return nil }
        return elapsed * (Double(total - completed) / Double(completed))
    }
}
