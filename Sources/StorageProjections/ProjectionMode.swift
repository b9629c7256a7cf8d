/// When a projection applies a commit.
public enum ProjectionMode: String, Sendable, Hashable {
    /// In the commit's own transaction: readers see both or neither. A projection that throws fails the commit.
    case inline
    /// After the commits, in a task of its own. ``Storage/waitForProjections(through:of:)`` waits until it has reached
    /// a position.
    case async
}

/// What happens when a projection throws while it follows the log.
///
/// ```swift
/// schema.addProjection(
///     OrderTotals(), mode: .async, onFailure: .retry(3, delay: .seconds(1), then: .deadLetter),
///     onReplayFailure: .pause)
/// ```
///
/// An event that a projection fails to apply never stops the store or another projection. Nothing is skipped silently.
public struct FailurePolicy: Sendable, Hashable {
    /// What happens when the retries haven't helped.
    public enum Outcome: Sendable, Hashable {
        /// The projection pauses before the commit that it failed to apply, until it is resumed.
        case pause
        /// The event is stored as a dead letter, with every later one of the same row, so that they keep their order;
        /// other rows continue.
        case deadLetter
    }

    /// The number of retries.
    public var retries: Int
    /// The delay before the first retry; it doubles each time.
    public var delay: Duration
    /// What happens after the last retry.
    public var outcome: Outcome

    /// Pauses at once: the default.
    public static let pause = FailurePolicy(retries: 0, delay: .zero, outcome: .pause)
    /// Stores a dead letter at once.
    public static let deadLetter = FailurePolicy(retries: 0, delay: .zero, outcome: .deadLetter)
    /// Retries the given number of times, with doubling delays, before it applies `outcome`.
    public static func retry(
        _ times: Int, delay: Duration = .milliseconds(100), then outcome: Outcome = .pause
    ) -> FailurePolicy { FailurePolicy(retries: times, delay: delay, outcome: outcome) }
}
