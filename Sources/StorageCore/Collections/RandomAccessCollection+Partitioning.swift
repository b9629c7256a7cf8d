extension RandomAccessCollection where Index == Int {
    /// The index of the first element for which the predicate is true, or `endIndex`; by bisection.
    ///
    /// - Parameter belongsInSecondPartition: False for the first elements, true for the others.
    /// - Complexity: O(log *n*) in the elements.
    @inlinable
    package func partitioningIndex(where belongsInSecondPartition: (Element) throws -> Bool) rethrows -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if try belongsInSecondPartition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
