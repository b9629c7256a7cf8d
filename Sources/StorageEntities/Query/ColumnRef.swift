public import StorageCore

/// The columns of an entity, as a query's closures see them: `$0.age` is the column of the property `age`. Outside of
/// closures the type itself answers them: `User.Columns.age`.
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

    /// A column by name, for those that no property stands for.
    public subscript<Value>(_ name: String, as type: Value.Type = Value.self) -> StorageColumn<Value> {
        StorageColumn(name)
    }
}
