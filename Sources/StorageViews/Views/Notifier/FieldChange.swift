public import StorageCore

/// What one column of a row held before and after a change.
public struct FieldChange: Sendable, Hashable {
    public let old: StorageValue
    public let new: StorageValue

    public init(old: StorageValue, new: StorageValue) {
        self.old = old
        self.new = new
    }
}
