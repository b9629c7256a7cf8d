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
    /// Seconds before it is tried again; twice as many each time.
    public var delaySeconds: Double
    /// What is done when retries haven't helped.
    public var outcome: Outcome

    /// Pauses at once: the default.
    public static let pause = FailurePolicy(retries: 0, delaySeconds: 0, outcome: .pause)
    /// Stores a dead letter at once.
    public static let deadLetter = FailurePolicy(retries: 0, delaySeconds: 0, outcome: .deadLetter)
    /// Tries again some times first.
    public static func retry(_ times: Int, delaySeconds: Double = 0.1, then outcome: Outcome = .pause) -> FailurePolicy
    {
        FailurePolicy(retries: times, delaySeconds: delaySeconds, outcome: outcome)
    }
}
