/// What the writer knows of other programs' writes since the store was opened.
struct ForeignWrites {
    /// SQLite's count of all changes of the file, as the last transaction has left it.
    var fileVersion: UInt32?
    /// SQLite's count of the changes by other connections.
    var version: Int64 = 0
    /// The log's end when another program's write was last found; 0 if none was. Until then, it may have given a row the position of
    /// another row's event.
    var lastSeenEnd: Int64 = 0
    /// Reads the events with which links are compared. Until another program writes again or a transaction fails, it is kept for
    /// later transactions, which often change rows of the same segments.
    var reader: LogReader?

    /// The largest size of decoded segments that are kept from one transaction to the next. The reader keeps buffers of limited size
    /// besides.
    static let maximumKeptBytes = 4 << 20
}
