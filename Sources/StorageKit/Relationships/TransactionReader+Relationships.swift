internal import GRDB
public import StorageCore
internal import StorageEntities
public import StorageLog

extension TransactionReader {
    /// The entity that another refers to, nil where it isn't there.
    ///
    /// - Throws: ``StorageError`` as ``TransactionReader`` says.
    public func loadParent<Parent: RegisteredEntity>(_ type: Parent.Type, id: Parent.Id) throws -> Parent? {
        try get(type, id: id)
    }

    /// The entities that others refer to, by id, in one query.
    ///
    /// - Throws: ``StorageError`` as ``TransactionReader`` says.
    public func loadParents<Parent: RegisteredEntity>(
        _ type: Parent.Type, ids: some Sequence<Parent.Id>
    ) throws -> [Parent.Id: Parent] {
        let keys = Set(ids.map { Parent.Record.key(of: $0) })
        return try RelationshipQueries.parents(keys, in: database)
    }

    /// The entities that refer to one by a column.
    ///
    /// ```swift
    /// let posts = try tx.loadChildren(
    ///     Post.self, where: "authorId", equals: user.id, orderBy: "createdAt", ascending: false)
    /// ```
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``TransactionReader`` says.
    public func loadChildren<Child: RegisteredEntity, Value: StorageColumnValue>(
        _ type: Child.Type, where foreignKey: String, equals parentId: Value, orderBy: String? = nil,
        ascending: Bool = true
    ) throws -> [Child] {
        let values = [parentId.storageValue]
        return try RelationshipQueries.rows(
            where: foreignKey, among: values, orderBy: orderBy, ascending: ascending, in: database)
    }

    /// The entities that refer to any of several by a column, at one state, by whom they refer to. Within each list they
    /// have the order that was asked for.
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``TransactionReader`` says.
    public func loadChildren<Child: RegisteredEntity, Value: StorageColumnValue & Hashable>(
        _ type: Child.Type, where foreignKey: String, in parentIds: some Sequence<Value>, orderBy: String? = nil,
        ascending: Bool = true
    ) throws -> [Value: [Child]] {
        let parents = Set(parentIds)
        return try RelationshipQueries.children(
            type, where: foreignKey, in: parents, orderBy: orderBy, ascending: ascending, in: database)
    }

    /// What refers to an entity by a property that is marked `@StorageHasMany`.
    ///
    /// ```swift
    /// user.posts = try tx.loadChildren(of: user, \.posts)
    /// ```
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a property that isn't marked; also as ``TransactionReader`` says.
    public func loadChildren<Parent: RegisteredEntity, Child: RegisteredEntity>(
        of parent: Parent, _ property: KeyPath<Parent, [Child]>, orderBy: String? = nil, ascending: Bool = true
    ) throws -> [Child] {
        let column = try Relation.foreignKey(of: property).get()
        let values = [Parent.Record.key(of: parent.id)]
        return try RelationshipQueries.rows(
            where: column, among: values, orderBy: orderBy, ascending: ascending, in: database)
    }

    /// What refers to several entities by a property that is marked `@StorageHasMany`, at one state, by their ids.
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a property that isn't marked; also as ``TransactionReader`` says.
    public func loadChildren<Parent: RegisteredEntity, Child: RegisteredEntity>(
        of parents: [Parent], _ property: KeyPath<Parent, [Child]>, orderBy: String? = nil, ascending: Bool = true
    ) throws -> [Parent.Id: [Child]] where Parent.Id: StorageColumnValue {
        let column = try Relation.foreignKey(of: property).get()
        return try loadChildren(
            Child.self, where: column, in: parents.map(\.id), orderBy: orderBy, ascending: ascending)
    }
}
