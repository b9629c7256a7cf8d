internal import CSQLite
public import StorageCore
public import StorageRecords

/// A row of a query's result, read from its statement.
///
/// ```swift
/// let ages = try db.fetchAll("SELECT name, age FROM users") { row in
///     (try row.value(String.self, "name"), try row.value(Int?.self, "age"))
/// }
/// ```
///
/// Not `Sendable`: it is valid until the closure that received it returns.
public struct SQLiteRow {
    /// Reads columns by index, from 0.
    public let reader: RowReader
    package let layout: SQLiteRowLayout

    /// Creates a row of an engine of your own.
    public init(_ reader: RowReader, layout: SQLiteRowLayout) {
        self.reader = reader
        self.layout = layout
    }

    /// The names of the columns, in order.
    public var columns: [String] { layout.names }

    /// A column's value in its storage class; nil if there is no column with this name.
    public subscript(name: String) -> StorageValue? { layout.index(of: name).map { reader.value(at: $0) } }

    /// A column's value in its storage class, by index.
    public subscript(index: Int) -> StorageValue { reader.value(at: Int32(index)) }

    /// Returns a column's value, by index.
    ///
    /// - Throws: `StorageError` with `invalidValue` if the column's value isn't of this type.
    public func value<Value: StorageColumnValue>(_ type: Value.Type, at index: Int) throws -> Value {
        try reader.read(type, at: Int32(index))
    }

    /// Returns a column's value, by name.
    ///
    /// - Throws: ``SQLiteClientError`` with `column` if there is no column with this name; `StorageError` with
    ///   `invalidValue` if its value isn't of this type.
    public func value<Value: StorageColumnValue>(_ type: Value.Type, _ name: String) throws -> Value {
        try reader.read(type, at: try index(of: name))
    }

    /// Decodes the row as a value whose coding keys are column names.
    ///
    /// Properties of column types are read directly, others as JSON text.
    ///
    /// - Throws: `DecodingError` that names the column that doesn't match.
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
    /// The names, in order.
    public let names: [String]
    /// Empty for few columns, when searching through them is as fast.
    private let indexes: [String: Int32]
    private static let fewColumns = 12

    /// Creates a layout of an engine of your own.
    public init(names: [String]) {
        self.names = names
        // If names are repeated, the first column counts, as in GRDB.
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
