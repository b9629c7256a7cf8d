public import StorageLog

/// An event that a projection failed to apply, or that waits for an earlier one of the same row.
public struct DeadLetter: Sendable, Hashable {
    public let projection: String
    /// The event's position in the log.
    public let position: Int64
    /// Why it is here, in words.
    public let error: String
    /// Microseconds since 1970 UTC of the last attempt.
    public let time: Int64
    /// How often it was tried.
    public let attempts: Int
    /// The event itself.
    public let event: StorageEvent
}
