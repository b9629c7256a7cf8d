public import GRDB
public import StorageCore

// What the compiler reports for the properties of an entity whose type fills no column: one sentence that says what to do, in the
// place of a list of overloads that don't fit. Nothing here can be called.

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

extension ColumnCoding {
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "this type fills no column: mark the property @StorageJSON, or give an enum raw values"
    )
    public static func encode<Value>(
        _ value: Value, to container: inout GRDB.PersistenceContainer, _ column: String
    ) throws {}

    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "this type fills no column: mark the property @StorageJSON, or give an enum raw values"
    )
    public static func decode<Value>(_ type: Value.Type, from row: GRDB.Row, _ column: String) throws -> Value {
        throw StorageError(.invalidValue, "\(type) fills no column.", remedy: "Mark the property @StorageJSON.")
    }
}

extension StorageEmbedding {
    @_disfavoredOverload
    @available(*, unavailable, message: "make the type of an embedded property Embeddable")
    public static func columns<Value>(_ type: Value.Type, prefix: String) -> [ColumnSchema] { [] }

    @_disfavoredOverload
    @available(*, unavailable, message: "make the type of an embedded property Embeddable")
    public static func write<Value>(_ value: Value, to row: RowWriter, at index: inout Int32) throws {}

    @_disfavoredOverload
    @available(*, unavailable, message: "make the type of an embedded property Embeddable")
    public static func read<Value>(_ type: Value.Type, from row: RowReader, at index: inout Int32) throws -> Value {
        throw StorageError(.invalidValue, "\(type) isn't Embeddable.", remedy: "Make it so.")
    }

    @_disfavoredOverload
    @available(*, unavailable, message: "make the type of an embedded property Embeddable")
    public static func encode<Value>(
        _ value: Value, to container: inout GRDB.PersistenceContainer, prefix: String
    ) throws {}

    @_disfavoredOverload
    @available(*, unavailable, message: "make the type of an embedded property Embeddable")
    public static func decode<Value>(_ type: Value.Type, from row: GRDB.Row, prefix: String) throws -> Value {
        throw StorageError(.invalidValue, "\(type) isn't Embeddable.", remedy: "Make it so.")
    }
}
