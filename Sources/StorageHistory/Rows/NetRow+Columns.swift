package import StorageLog

extension [NetRow.Cell] {
    /// A column's value; nil where the column isn't among them.
    ///
    /// - Complexity: O(log *n*) of the cells, which come by rising id.
    package func value(of column: UInt32) -> ExactValue? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].column < column { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low].column == column ? self[low].value : nil
    }
}
