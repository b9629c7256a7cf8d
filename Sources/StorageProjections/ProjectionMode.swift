/// When a projection applies a commit.
public enum ProjectionMode: String, Sendable, Hashable {
    /// In the commit's own transaction: readers see both or neither. A projection that throws fails the commit.
    case inline
    /// Behind the commits, by a task of its own. ``Storage/waitForProjections(through:of:)`` waits until it has
    /// come far enough.
    case async
}

/// What happens when a projection throws while it follows the log.
///
/// An event that a projection fails to apply never stops the store or another projection. Nothing is skipped silently.
public struct FailurePolicy: Sendable, Hashable {
    /// What is done when trying again hasn't helped.
    public enum Outcome: Sendable, Hashable {
        /// The projection pauses before the commit until it is resumed.
        case pause
        /// The event is stored as a dead letter, with every later one of the same row, so that they keep their order;
        /// other rows continue.
        case deadLetter
    }

    /// How often it is tried again.
    public var retries: Int
    /// How long it waits before it is tried again; twice as long each time.
    public var delay: Duration
    /// What happens after the last retry.
    public var outcome: Outcome

    /// Pauses at once: the default.
    public static let pause = FailurePolicy(retries: 0, delay: .zero, outcome: .pause)
    /// Stores a dead letter at once.
    public static let deadLetter = FailurePolicy(retries: 0, delay: .zero, outcome: .deadLetter)
    /// Tries again some times first.
    public static func retry(
        _ times: Int, delay: Duration = .milliseconds(100), then outcome: Outcome = .pause
    ) -> FailurePolicy { FailurePolicy(retries: times, delay: delay, outcome: outcome) }
}
