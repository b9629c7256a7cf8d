public import GRDB
public import StorageCore

// The compiler's error for a property whose type fills no column: one sentence that says what to do, instead of a list of
// overloads that don't fit. If one of the calls that `@StorageEntity` generates is refused, the others needn't be.

extension ColumnSchema {
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "this type fills no column: mark the property @StorageJSON, or give an enum raw values"
    )
    public init<Value>(_ name: String, _ type: Value.Type, primaryKey: Bool = false, default value: Value? = nil) {
        self.init(problem: "\(type) fills no column")
    }
}

extension _ColumnCoding {
    @_disfavoredOverload
    public static func encode<Value>(
        _ value: Value, to container: inout GRDB.PersistenceContainer, _ column: String
    ) throws { throw StorageError.fillsNoColumn(Value.self) }

    @_disfavoredOverload
    public static func decode<Value>(_ type: Value.Type, from row: GRDB.Row, _ column: String) throws -> Value {
        throw StorageError.fillsNoColumn(type)
    }
}

extension _StorageEmbedding {
    @_disfavoredOverload
    @available(*, unavailable, message: "make the type of an embedded property Embeddable")
    public static func columns<Value>(_ type: Value.Type, prefix: String) -> [ColumnSchema] { [] }

    @_disfavoredOverload
    public static func write<Value>(_ value: Value, to row: RowWriter, at index: inout Int32) throws {
        throw StorageError.fillsNoColumn(Value.self)
    }

    @_disfavoredOverload
    public static func read<Value>(_ type: Value.Type, from row: RowReader, at index: inout Int32) throws -> Value {
        throw StorageError.fillsNoColumn(type)
    }

    @_disfavoredOverload
    public static func encode<Value>(
        _ value: Value, to container: inout GRDB.PersistenceContainer, prefix: String
    ) throws { throw StorageError.fillsNoColumn(Value.self) }

    @_disfavoredOverload
    public static func decode<Value>(_ type: Value.Type, from row: GRDB.Row, prefix: String) throws -> Value {
        throw StorageError.fillsNoColumn(type)
    }
}

extension StorageError {
    fileprivate static func fillsNoColumn<Value>(_ type: Value.Type) -> StorageError {
        StorageError(
            .invalidValue, "\(type) fills no column.",
            remedy: "Mark the property @StorageJSON, or @StorageEmbedded if its type is Embeddable.")
    }
}
