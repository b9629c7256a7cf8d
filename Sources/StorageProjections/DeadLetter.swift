public import Foundation
internal import StorageCore
public import StorageLog

/// An event that a projection failed to apply, or that waits for an earlier one of the same row.
///
/// ```swift
/// for letter in try await storage.projections.deadLetters() {
///     print(letter.projection, letter.event, "failed", letter.attempts, "times:", letter.error)
/// }
/// ```
public struct DeadLetter: Sendable, Hashable {
    /// The projection's name.
    public let projection: String
    /// The event's position in the log.
    public let position: Int64
    /// Why the event couldn't be applied.
    public let error: String
    /// When it was last tried, in microseconds since 1970 UTC. See ``date``.
    public let time: Int64
    /// How often applying the event was tried.
    public let attempts: Int
    /// The event itself.
    public let event: StorageEvent

    /// When it was last tried.
    public var date: Date { Date(microseconds: time) }
}

extension DeadLetter: CustomStringConvertible {
    /// The event and why it couldn't be applied: `totals: @101 t:12 delete posts/42 (3 attempts): no such column`.
    public var description: String {
        "\(projection): \(event) (\(ChangeText.number(attempts, "attempt"))): \(error)"
    }
}
