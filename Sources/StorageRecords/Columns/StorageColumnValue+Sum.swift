package import StorageCore

extension StorageColumnValue where Self: AdditiveArithmetic {
    /// Creates the value from the sum of a column; zero for NULL, the sum of no values.
    ///
    /// - Throws: `invalid-value` if the type can't represent it: a sum of small integers may be larger than their type.
    package init(sum: StorageValue) throws {
        guard sum != .null else {
            self = .zero
            return
        }
        do {
            self = try Self(storageValue: sum)
        } catch let error {
            guard case .integer(let number) = sum else { throw error }
            throw StorageError(
                .invalidValue, "The sum \(number) doesn't fit into \(Self.self).",
                remedy: "Sum up fewer rows, or change the property's type to a larger one, such as Int.", cause: error)
        }
    }
}
