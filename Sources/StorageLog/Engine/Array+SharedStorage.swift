internal import StorageCore

extension Array {
    /// Whether both are the same array in memory, and so equal: an array is copied before it is changed.
    ///
    /// - Complexity: O(1).
    func sharesStorage(with other: [Element]) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBufferPointer { elements in
            other.withUnsafeBufferPointer { isEmpty || elements.baseAddress == $0.baseAddress }
        }
    }
}

extension [String] {
    /// Whether both hold the same texts, byte for byte: two spellings of é are two names.
    func isExactly(_ other: [String]) -> Bool {
        if sharesStorage(with: other) { return true }
        return count == other.count && zip(self, other).allSatisfy { ExactText($0) == ExactText($1) }
    }
}
