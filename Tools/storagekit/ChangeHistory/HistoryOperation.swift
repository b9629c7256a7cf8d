/// One line of change history: a row of a table was inserted, updated or deleted.
///
/// Reused for each line; it owns no bytes. All slices are valid until the parser reads the next line, and as long as the line's memory is.
struct HistoryOperation {
    enum Kind: String, Sendable {
        case insert, update, delete
    }

    struct Column {
        let name: ByteSlice
        let value: HistoryValue
    }

    /// Groups operations: adjacent operations with an equal number are one commit. It has no other meaning.
    var tx: Int64 = 0
    /// Microseconds since 1970 in UTC; nil if the line has no time.
    var at: Int64?
    /// Whether the line's time was finer than a microsecond.
    var isTimeCut = false
    var kind = Kind.insert
    var table = ByteSlice(start: nil, count: 0)
    var id = ByteSlice(start: nil, count: 0)
    /// The whole row after the operation in the order of the line, without repeated names; empty for a delete.
    var columns: [Column] = []

    var actor: ByteSlice?
    var app: ByteSlice?
    var reason: ByteSlice?
    var correlation: ByteSlice?

    /// The operation's line, for errors.
    var line: InputLine?

    /// Clears everything but the memory of the columns.
    mutating func reset() {
        at = nil
        isTimeCut = false
        actor = nil
        app = nil
        reason = nil
        correlation = nil
        columns.removeAll(keepingCapacity: true)
    }

    /// Returns the offset of a column's name in the line, in bytes; 0 if the row doesn't have the column, or the line spells its name with escapes.
    func offset(ofColumn name: String) -> Int {
        guard let line = line?.bytes.baseAddress, let count = self.line?.bytes.count,
            let start = columns.first(where: { $0.name.equals(text: name) })?.name.baseAddress
        else { return 0 }
        let offset = start - line
        return (0..<count).contains(offset) ? offset : 0
    }
}
