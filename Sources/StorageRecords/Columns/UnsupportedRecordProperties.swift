public import StorageCore

// The compiler's error for a property of a record whose type fills no column: one sentence that says what to do, instead of a
// list of overloads that don't fit. Nothing here can be called.

extension RowWriter {
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "this type fills no column: mark the property @StorageJSON, or give an enum raw values"
    )
    public func write<Value>(_ value: Value, at index: Int32) throws {}
}

extension RowReader {
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "this type fills no column: mark the property @StorageJSON, or give an enum raw values"
    )
    public func read<Value>(_ type: Value.Type, at index: Int32) throws -> Value {
        throw StorageError(.invalidValue, "\(type) fills no column.", remedy: "Mark the property @StorageJSON.")
    }
}

extension _RowKey {
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "this type can't be a key: give 'id' a type that fills one column, such as String, Int or UUID"
    )
    public static func value<Id>(of id: Id) -> StorageValue { .null }
}
