/// The progress of a rebuild.
///
/// ```swift
/// try await storage.rebuild("users") { progress in
///     print(progress.phase, progress.fraction, progress.remaining as Any)
/// }
/// ```
public struct RebuildProgress: Sendable, Hashable {
    /// A phase of a rebuild.
    public enum Phase: String, Sendable {
        /// The log is being read and the new tables are being filled, while commits continue.
        case reading
        /// New and old tables are being compared, while commits continue.
        case comparing
        /// The new tables replace the old ones, and commits wait.
        case swapping
    }

    /// The current phase.
    public let phase: Phase
    /// The events of the log that were read or skipped, including those of an interrupted rebuild that this one
    /// resumes. If rows are sorted before they are written, half of an event counts when it is read, and the rest when its row is
    /// written.
    public let completed: Int64
    /// What ``completed`` will be once the tables have caught up with the log.
    public let total: Int64
    /// The time since the rebuild began.
    public let elapsed: Duration
    /// How fast the log is being read; nil before anything can be said.
    public let eventsPerSecond: Double?

    /// The fraction of the reading that is done, from 0 to 1.
    public var fraction: Double { total > 0 ? min(Double(completed) / Double(total), 1) : 1 }

    /// The time that the rest of the reading takes at the current rate; nil before anything can be said.
    public var remaining: Duration? {
        guard phase == .reading, let eventsPerSecond else { return nil }
        return .seconds(Double(max(total - completed, 0)) / eventsPerSecond)
    }
}

extension RebuildProgress: CustomStringConvertible {
    /// The progress in one line: `reading, 45 % of 1000 events, 12.0 seconds left`.
    public var description: String {
        guard phase == .reading else { return phase.rawValue }
        return "reading, \(Int(fraction * 100)) % of \(total) events" + (remaining.map { ", \($0) left" } ?? "")
    }
}
