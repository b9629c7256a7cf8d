/// A table that operations of a change history are applied to.
///
/// Not `Sendable`: it is used on the writer's queue for the length of an import.
protocol ImportTarget: AnyObject {
    var name: String { get }
    var nameBytes: [UInt8] { get }
    /// The name in queries, if it differs; otherwise nil.
    var nameInSQL: String? { get }
    /// The columns' names for printing.
    var columnNames: [String] { get }
    /// Values that had to be kept as JSON because their column's kind is another, by column.
    var deviants: [String: Int] { get }

    /// Applies an operation.
    ///
    /// - Throws: `InputError`, `CommandError` or ``StorageError`` if the row isn't in the state that the operation requires.
    func apply(_ operation: HistoryOperation) throws
}
