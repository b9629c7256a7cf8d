public import StorageCore

/// What one column of a row held before and after a change.
///
/// ```swift
/// for await event in try await storage.changeNotifier.events(for: User.self) {
///     guard case .updated(_, let id, let changes, _) = event, let email = changes["email"] else { continue }
///     print(id, email.old, email.new)
/// }
/// ```
public struct FieldChange: Sendable, Hashable {
    /// The value before.
    public let old: StorageValue
    /// The value after.
    public let new: StorageValue

    /// Creates a change.
    public init(old: StorageValue, new: StorageValue) {
        self.old = old
        self.new = new
    }
}

extension FieldChange: CustomStringConvertible {
    /// `"a" → "b"`
    public var description: String { "\(old) → \(new)" }
}
