/// Something that runs until it is cancelled or its last reference is released.
///
/// ```swift
/// let observation = try await client.observeTables(["users"]) { print("changed") }
/// observation.cancel()
/// ```
public protocol SQLiteCancellable: Sendable {
    /// Ends the activity. Calling it again has no effect.
    func cancel()
}
