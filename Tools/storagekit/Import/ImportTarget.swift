/// A table that operations of a change history are applied to.
///
/// Not `Sendable`: it lives on the writer's queue for the length of an import.
protocol ImportTarget: AnyObject {
    var name: String { get }
    var nameBytes: [UInt8] { get }
    /// The name that queries use, where it is another; nil where it is the same.
    var nameInSQL: String? { get }
    /// What is printed of the columns.
    var columnNames: [String] { get }
    /// Values that had to be kept as JSON because their column's kind is another, by column.
    var deviants: [String: Int] { get }

    /// Applies an operation.
    ///
    /// - Throws: `InputError`, `CommandError` or ``StorageError`` where the row isn't as the operation needs it.
    func apply(_ operation: HistoryOperation) throws
}
