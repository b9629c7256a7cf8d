internal import StorageCore
package import StorageLog

extension [NetRow.Cell] {
    /// A column's value; nil if the change has no cell for it.
    ///
    /// - Complexity: O(log *n*) of the cells, which come by rising id.
    package func value(of column: UInt32) -> ExactValue? {
        let index = partitioningIndex { $0.column >= column }
        return index < endIndex && self[index].column == column ? self[index].value : nil
    }
}
