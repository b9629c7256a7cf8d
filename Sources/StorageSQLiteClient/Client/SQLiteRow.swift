internal import CSQLite
public import StorageCore
public import StorageRecords

/// A row that a query has found, read from its statement.
///
/// Not `Sendable`: it is valid until the closure that was given it returns.
public struct SQLiteRow {
    /// Columns by index, from 0.
    public let reader: RowReader
    package let layout: SQLiteRowLayout

    public init(_ reader: RowReader, layout: SQLiteRowLayout) {
        self.reader = reader
        self.layout = layout
    }

    /// The names of the columns, in order.
    public var columns: [String] { layout.names }

    /// A column in its storage class; nil where no column has this name.
    public subscript(name: String) -> StorageValue? { layout.index(of: name).map { reader.value(at: $0) } }

    /// A column by its index, in its storage class.
    public subscript(index: Int) -> StorageValue { reader.value(at: Int32(index)) }

    /// A column by its index.
    ///
    /// - Throws: `invalidValue` where the column holds something else.
    public func value<Value: StorageColumnValue>(_ type: Value.Type, at index: Int) throws -> Value {
        try reader.read(type, at: Int32(index))
    }

    /// A column by its name.
    ///
    /// - Throws: ``SQLiteClientError`` with `column` where no column has this name; `invalidValue` where it holds something
    ///   else.
    public func value<Value: StorageColumnValue>(_ type: Value.Type, _ name: String) throws -> Value {
        try reader.read(type, at: try index(of: name))
    }

    /// The row as a value whose coding keys are the names of columns.
    ///
    /// Properties that fill a column are read as such, others as JSON in a text.
    ///
    /// - Throws: `DecodingError` with the column where it doesn't fit.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try SQLiteRowDecoder(row: self).decode(type)
    }

    func index(of name: String) throws -> Int32 {
        guard let index = layout.index(of: name) else { throw SQLiteClientError.noColumn(name, among: columns) }
        return index
    }
}

/// The names of a statement's columns, shared by its rows.
///
/// Isolation: `Sendable`, immutable.
public final class SQLiteRowLayout: Sendable {
    public let names: [String]
    /// Empty where there are so few columns that looking through them is as fast.
    private let indexes: [String: Int32]
    private static let fewColumns = 12

    public init(names: [String]) {
        self.names = names
        // Of columns of the same name the first counts, as in GRDB.
        indexes =
            names.count > Self.fewColumns
            ? Dictionary(zip(names, 0...), uniquingKeysWith: { first, _ in first }) : [:]
    }

    /// The columns of a prepared statement.
    package convenience init(statement: OpaquePointer) {
        self.init(
            names: (0..<sqlite3_column_count(statement)).map { String(cString: sqlite3_column_name(statement, $0)) })
    }

    package func index(of name: String) -> Int32? {
        names.count > Self.fewColumns ? indexes[name] : names.firstIndex(of: name).map(Int32.init)
    }
}
