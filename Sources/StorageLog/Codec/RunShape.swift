internal import CSQLite

/// A shape as one segment contains it: its columns by the indexes of their streams.
///
/// A class, because it is looked up for each event, and copying a value of four arrays counts four references.
final class RunShape {
    let entity: UInt32
    let operation: UInt32
    let columns: [UInt32]
    let keyStreams: [Int]
    let columnStreams: [Int]
    /// The index of each column among the entity's columns in this run.
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
