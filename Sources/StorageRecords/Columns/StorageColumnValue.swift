public import StorageCore

/// A Swift type that fills one column.
///
/// `String`, `UUID`, `URL`, `Bool`, every integer, `Double`, `Float`, `Date`, `Data`, their optionals and enums over
/// them are columns already. Conform a type of your own by converting it to one of them:
///
/// ```swift
/// extension Money: StorageColumnValue {
///     static var columnType: String { Int.columnType }
///     var storageValue: StorageValue { .integer(cents) }
///     init(storageValue: StorageValue) throws { cents = try Int64(storageValue: storageValue) }
/// }
/// ```
public protocol StorageColumnValue: Sendable {
    /// The declared SQL type. SQLite derives from it which values the column converts: of a text like `007` a column declared
    /// `INTEGER`, `NUMERIC` or `DATE` makes a number. A type with values that wouldn't come back the same is refused when a
    /// column is created for it, if it is found then; such a value is refused when it is stored, except by SQL of your own. `TEXT`
    /// suits texts, and `BLOB` converts nothing.
    static var columnType: String { get }
    /// How values are shown beyond their storage class: ``ColumnSchema/uuid`` if bytes are UUIDs, otherwise nothing.
    static var columnCoding: String { get }
    /// Whether NULL is one of the values.
    static var isNullable: Bool { get }
    /// The value as the database stores it.
    var storageValue: StorageValue { get }
    /// Creates the Swift value from the stored one.
    ///
    /// - Throws: ``StorageError`` with `invalidValue` if the stored value isn't one of this type.
    init(storageValue: StorageValue) throws

    /// Binds the value to a parameter of a statement. By default it uses ``storageValue``; the types of the standard library bind
    /// directly.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    func write(to row: RowWriter, at index: Int32) throws
    /// Reads the value from a column of a statement's row. By default it uses ``init(storageValue:)``.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    static func read(from row: RowReader, at index: Int32) throws -> Self
}

extension StorageColumnValue {
    /// None.
    @inlinable public static var columnCoding: String { "" }
    /// False: NULL isn't a value of the type.
    ///
    @inlinable public static var isNullable: Bool { false }

    /// Binds the value to a placeholder.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    @inlinable public func write(to row: RowWriter, at index: Int32) throws {
        try row.bind(_storable(), at: index)
    }

    /// The value as a column stores it. What binds values to be stored calls this, and nothing else should.
    ///
    /// Conditions use ``storageValue``, which also represents whole numbers that no column can hold, so that they compare as
    /// they should.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a whole number that SQLite can't store, and for a value that
    ///   the column's type affinity would change.
    @inlinable public func _storable() throws(StorageError) -> StorageValue {
        let value = storageValue
        if case .text(let text) = value, Self.columnType == "INTEGER" {
            try StorageError.checkIsStorable(integer: text)
        }
        try Self.checkIsKept(value)
        return value
    }

    /// The value as an argument of SQL, which may store it in any column or only compare with it: what the type's own column would
    /// make of it isn't checked.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a whole number that SQLite can't store.
    package func argument() throws(StorageError) -> StorageValue {
        let value = storageValue
        if case .text(let text) = value, Self.columnType == "INTEGER" {
            try StorageError.checkIsStorable(integer: text)
        }
        return value
    }

    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable public static func read(from row: RowReader, at index: Int32) throws -> Self {
        try Self(storageValue: row.value(at: index))
    }
}

extension StorageError {
    /// Checks a text that is bound to a column of integers: of the digits of a number that is too large, the column would make
    /// a real.
    ///
    /// - Throws: `invalid-value` for such digits; any other text is stored as it is, or as the integer that it represents.
    @usableFromInline static func checkIsStorable(integer text: String) throws(StorageError) {
        guard Int64(text) == nil, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
        throw tooLarge(text)
    }

    /// - Parameter digits: A whole number.
    static func tooLarge(_ digits: String) -> StorageError {
        StorageError(
            .invalidValue, "\(digits) is larger than SQLite's integers.",
            remedy: "Store it as text, or keep it at or below \(Int64.max).")
    }
}
