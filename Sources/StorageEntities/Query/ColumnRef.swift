public import StorageCore

/// The columns of an entity in a query's closures: `$0.age` is the column of the property `age`. Outside of closures
/// the type itself has them: `User.Columns.age`.
@dynamicMemberLookup
public struct ColumnRef<E: RegisteredEntity>: Sendable {
    package init() {}

    /// A column, or the columns of an embedded property.
    public subscript<Member>(dynamicMember path: KeyPath<E.Record.Columns, Member>) -> Member {
        E.Record.columns[keyPath: path]
    }

    /// A column, or the columns of an embedded property.
    public static subscript<Member>(dynamicMember path: KeyPath<E.Record.Columns, Member>) -> Member {
        E.Record.columns[keyPath: path]
    }

    /// What the compiler reports for a property that isn't there.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name, or none of this type")
    public subscript<Value>(dynamicMember name: String) -> StorageColumn<Value> { StorageColumn(name) }

    /// The same if it is searched as text, or if its type can't be inferred.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name")
    public subscript(dynamicMember name: String) -> StorageColumn<String> { StorageColumn(name) }

    /// A column by name, for those without a property.
    public subscript<Value>(_ name: String, as type: Value.Type = Value.self) -> StorageColumn<Value> {
        StorageColumn(name)
    }
}
