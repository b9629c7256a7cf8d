internal import CSQLite

/// A shape as one row of the log knows it: its columns by number of stream.
///
/// A class, because it is looked at for each event, and copying a value of four arrays counts four references.
final class RunShape {
    let entity: UInt32
    let operation: UInt32
    let columns: [UInt32]
    let keyStreams: [Int]
    let columnStreams: [Int]
    /// Place of each column among the entity's columns in this run.
    let columnIndices: [Int]

    init(
        entity: UInt32, operation: UInt32, columns: [UInt32], keyStreams: [Int], columnStreams: [Int],
        columnIndices: [Int]
    ) {
        self.entity = entity
        self.operation = operation
        self.columns = columns
        self.keyStreams = keyStreams
        self.columnStreams = columnStreams
        self.columnIndices = columnIndices
    }
}
