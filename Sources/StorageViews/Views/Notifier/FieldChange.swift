public import StorageCore

/// What one column of a row held before and after a change.
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
