public import StorageCore

/// The columns of an entity. In a query's closure, `$0.age` is the column of the property `age`; elsewhere, write
/// `User.Columns.age`.
///
/// ```swift
/// func isRecent(_ post: ColumnRef<Post>) -> RowPredicate { post.createdAt > now && post.title != "" }
/// let posts = try await storage.query(Post.self).where(isRecent).fetch()
/// ```
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

    /// Unavailable: produces the compiler's message for a property that doesn't exist.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name, or none of this type")
    public subscript<Value>(dynamicMember name: String) -> StorageColumn<Value> { StorageColumn(name) }

    /// Unavailable: produces the same message for a property used as text, or whose type can't be inferred.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name")
    public subscript(dynamicMember name: String) -> StorageColumn<String> { StorageColumn(name) }

    /// Returns a column by its name, if it has no property.
    public subscript<Value>(_ name: String, as type: Value.Type = Value.self) -> StorageColumn<Value> {
        StorageColumn(name)
    }
}
