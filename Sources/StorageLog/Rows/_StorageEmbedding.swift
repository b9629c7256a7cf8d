internal import Foundation
public import GRDB
public import StorageCore

/// Embedded values as columns of the entity around them; what `@StorageEmbedded` writes calls these, and
/// nothing else should.
///
/// An optional embedded value is nil if all its columns are NULL; a non-nil value with only NULL columns is refused. If
/// a required property is NULL while another one isn't, the row, or its version, is older than the property, which then
/// has the value that such rows get in an ordinary column.
public enum _StorageEmbedding {
    /// Returns the index to use next, and increments it.
    @inlinable public static func next(_ index: inout Int32) -> Int32 {
        defer { index += 1 }
        return index
    }

    /// The columns of an embedded property.
    ///
    /// - Parameter hasInitialValue: Whether a new entity has a value of its own, which rows from before can't get: a table doesn't
    ///   get all of the columns with neutral values then.
    public static func columns<Value: Embeddable>(
        _ type: Value.Type, prefix: String, hasInitialValue: Bool = false
    ) -> [ColumnSchema] {
        var columns = columns(type, prefix, isOptional: false)
        if hasInitialValue {
            let names = columns.map(\.name)
            for index in columns.indices { columns[index].partsOfInitialValue = names }
        }
        return columns
    }

    /// The columns of an optional embedded property.
    public static func columns<Value: Embeddable>(_ type: Value?.Type, prefix: String) -> [ColumnSchema] {
        columns(Value.self, prefix, isOptional: true)
    }

    private static func columns<Value: Embeddable>(
        _ type: Value.Type, _ prefix: String, isOptional: Bool
    ) -> [ColumnSchema] {
        let shape = EmbeddedSchema.of(type)
        if let problem = shape.problem { return [ColumnSchema(problem: problem)] }
        let names = shape.columns.map { prefix + $0.name }
        return shape.columns.map { column in
            let name = prefix + column.name
            var schema = ColumnSchema(
                name: name, type: column.type, notNull: !column.isNullable && !isOptional, defaultValue: nil,
                neutralValue: column.neutral?.literal, coding: column.coding)
            schema.isPart = true
            schema.creationProblem = column.conversionProblem.map { "of \"\(name)\", \($0)" }
            if isOptional { (schema.parts, schema.isRequiredPart) = (names, !column.isNullable) }
            return schema
        }
    }

    /// Binds an embedded property.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    public static func write<Value: Embeddable>(_ value: Value, to row: RowWriter, at index: inout Int32) throws {
        for value in try values(value) { try row.bind(value, at: next(&index)) }
    }

    /// Binds an optional embedded property.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    public static func write<Value: Embeddable>(_ value: Value?, to row: RowWriter, at index: inout Int32) throws {
        for value in try values(value) { try row.bind(value, at: next(&index)) }
    }

    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read<Value: Embeddable>(
        _ type: Value.Type, from row: RowReader, at index: inout Int32
    ) throws -> Value {
        try value(EmbeddedSchema.of(type).columns.map { _ in row.value(at: next(&index)) })
    }

    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read<Value: Embeddable>(
        _ type: Value?.Type, from row: RowReader, at index: inout Int32
    ) throws -> Value? {
        try optional(EmbeddedSchema.of(Value.self).columns.map { _ in row.value(at: next(&index)) })
    }

    public static func encode<Value: Embeddable>(
        _ value: Value, to container: inout GRDB.PersistenceContainer, prefix: String
    ) throws {
        for (column, value) in zip(EmbeddedSchema.of(Value.self).columns, try values(value)) {
            try _ColumnCoding.put(value, to: &container, prefix + column.name)
        }
    }

    public static func encode<Value: Embeddable>(
        _ value: Value?, to container: inout GRDB.PersistenceContainer, prefix: String
    ) throws {
        for (column, value) in zip(EmbeddedSchema.of(Value.self).columns, try values(value)) {
            try _ColumnCoding.put(value, to: &container, prefix + column.name)
        }
    }

    /// Reads a property from a row of GRDB.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func decode<Value: Embeddable>(
        _ type: Value.Type, from row: GRDB.Row, prefix: String
    ) throws -> Value {
        try value(EmbeddedSchema.of(type).columns.map { try _ColumnCoding.storageValue(row, prefix + $0.name) })
    }

    /// Reads a property from a row of GRDB.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func decode<Value: Embeddable>(
        _ type: Value?.Type, from row: GRDB.Row, prefix: String
    ) throws -> Value? {
        try optional(
            EmbeddedSchema.of(Value.self).columns.map { try _ColumnCoding.storageValue(row, prefix + $0.name) })
    }
}

extension _StorageEmbedding {
    private static func values<Value: Embeddable>(_ value: Value) throws -> [StorageValue] {
        let encoder = EmbeddedEncoder()
        try value.encode(to: encoder)
        return try EmbeddedSchema.of(Value.self).columns.map { column in
            if let value = encoder.values[column.name] { return value }
            // `encodeIfPresent` omits nil.
            guard column.isNullable else {
                throw StorageError(
                    .invalidValue, "\(Value.self) doesn't encode its property \"\(column.name)\".",
                    remedy: "Let it encode what it decodes, by the same names.")
            }
            return .null
        }
    }

    private static func values<Value: Embeddable>(_ value: Value?) throws -> [StorageValue] {
        guard let value else { return EmbeddedSchema.of(Value.self).columns.map { _ in .null } }
        let values = try values(value)
        guard values.contains(where: { $0 != .null }) else {
            throw StorageError(
                .invalidValue, "A \(Value.self) whose properties are all nil can't be distinguished from nil.",
                remedy: "Set the property to nil, or give one of its parts a value.")
        }
        return values
    }

    private static func optional<Value: Embeddable>(_ values: [StorageValue]) throws -> Value? {
        guard values.contains(where: { $0 != .null }) else { return nil }
        guard values.contains(.null) else { return try value(values) }
        let columns = EmbeddedSchema.of(Value.self).columns
        return try value(
            zip(columns, values).map { column, stored in
                stored == .null ? column.neutral ?? stored : stored
            })
    }

    private static func value<Value: Embeddable>(_ values: [StorageValue]) throws -> Value {
        let names = EmbeddedSchema.of(Value.self).columns.map(\.name)
        return try Value(from: EmbeddedDecoder(Dictionary(uniqueKeysWithValues: zip(names, values))))
    }
}

/// The columns of an embedded property in a query: `$0.home.city`.
@dynamicMemberLookup
public struct _EmbeddedColumns<Value: Embeddable>: Sendable {
    private let prefix: String

    /// Creates the columns of a property.
    ///
    /// - Parameter prefix: The prefix of their names.
    public init(prefix: String) { self.prefix = prefix }

    /// The column of one of its properties. For a property that can't be determined, it is a name that no column has,
    /// which is refused when the query runs.
    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> StorageColumn<Member> {
        StorageColumn(prefix + (EmbeddedSchema.column(of: path) ?? "?"))
    }
}

/// The columns of an optional embedded property in a query. They are NULL if the property is nil, and then an update that
/// assigns only some of them doesn't change them.
@dynamicMemberLookup
public struct _OptionalEmbeddedColumns<Value: Embeddable>: Sendable {
    private let prefix: String

    /// Creates the columns of a property.
    ///
    /// - Parameter prefix: The prefix of their names.
    public init(prefix: String) { self.prefix = prefix }

    /// The column of one of its properties.
    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> StorageColumn<Member?> {
        StorageColumn(prefix + (EmbeddedSchema.column(of: path) ?? "?"))
    }

    /// The column of one of its properties that is optional itself.
    public subscript<Member>(dynamicMember path: KeyPath<Value, Member?>) -> StorageColumn<Member?> {
        StorageColumn(prefix + (EmbeddedSchema.column(of: path) ?? "?"))
    }
}
