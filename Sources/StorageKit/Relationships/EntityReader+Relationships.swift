internal import GRDB
public import StorageCore
public import StorageEntities
public import StorageLog

extension EntityReader {
    /// Returns the entity that another refers to by its id; nil if it doesn't exist.
    ///
    /// ```swift
    /// let author = try await storage.loadParent(Author.self, id: book.authorId)
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``EntityReader`` says.
    public func loadParent<Parent: RegisteredEntity>(_ type: Parent.Type, id: Parent.Id) async throws -> Parent? {
        try await get(type, id: id)
    }

    /// Returns the entities that others refer to, keyed by id. Runs one query. Of ids that Swift considers equal, such as `é` composed
    /// and decomposed, the result has one: ``loadParent(_:id:)`` finds each.
    ///
    /// ```swift
    /// let authors = try await storage.loadParents(Author.self, ids: books.map(\.authorId))
    /// for book in books { print(book.year, authors[book.authorId]?.name ?? "") }
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``EntityReader`` says.
    public func loadParents<Parent: RegisteredEntity>(
        _ type: Parent.Type, ids: some Sequence<Parent.Id>
    ) async throws -> [Parent.Id: Parent] {
        let keys = Set(ids.map { Parent.Record.key(of: $0) })
        let table = EntityTableCache.of(Parent.Record.self)
        let condition = RelationshipQueries.condition(where: table.keyColumn, among: Array(keys))
        return try await readingRows(of: table.name, matching: condition) { db in
            try RelationshipQueries.parents(keys, in: db)
        }
    }

    /// Returns the entities whose column refers to one entity.
    ///
    /// ```swift
    /// let posts = try await storage.loadChildren(
    ///     Post.self, where: "authorId", equals: user.id, orderBy: "createdAt", ascending: false)
    /// ```
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``EntityReader`` says.
    public func loadChildren<Child: RegisteredEntity, Value: StorageColumnValue>(
        _ type: Child.Type, where foreignKey: String, equals parentId: Value, orderBy: String? = nil,
        ascending: Bool = true
    ) async throws -> [Child] {
        let values = [parentId.storageValue]
        return try await readingRows(of: Child.Record.databaseTableName) { db in
            try RelationshipQueries.rows(
                where: foreignKey, among: values, orderBy: orderBy, ascending: ascending, in: db)
        }
    }

    /// Returns the entities whose column refers to any of several entities, keyed by the value of the column, each list in the
    /// requested order. All are read from one state. Texts that Swift considers equal share a list, one's entities after the other's.
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``EntityReader`` says.
    public func loadChildren<Child: RegisteredEntity, Value: StorageColumnValue & Hashable>(
        _ type: Child.Type, where foreignKey: String, in parentIds: some Sequence<Value>, orderBy: String? = nil,
        ascending: Bool = true
    ) async throws -> [Value: [Child]] {
        let parents = Array(parentIds)
        let table = Child.Record.databaseTableName
        let body: @Sendable (GRDB.Database) throws -> [Value: [Child]] = { db in
            try RelationshipQueries.children(
                type, where: foreignKey, in: parents, orderBy: orderBy, ascending: ascending, in: db)
        }
        guard parents.count <= RelationshipQueries.fewParents else { return try await reading([table], body) }
        return try await readingRows(of: table, body)
    }

    /// Returns the entities of a property marked `@StorageHasMany`.
    ///
    /// ```swift
    /// user.posts = try await storage.loadChildren(of: user, \.posts)
    /// ```
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a property that isn't marked; also as ``EntityReader`` says.
    public func loadChildren<Parent: RegisteredEntity, Child: RegisteredEntity>(
        of parent: Parent, _ property: KeyPath<Parent, [Child]>, orderBy: String? = nil, ascending: Bool = true
    ) async throws -> [Child] {
        let column = try Relation.foreignKey(of: property).get()
        let values = [Parent.Record.key(of: parent.id)]
        return try await readingRows(of: Child.Record.databaseTableName) { db in
            try RelationshipQueries.rows(where: column, among: values, orderBy: orderBy, ascending: ascending, in: db)
        }
    }

    /// Returns the entities of a property marked `@StorageHasMany` of several parents, keyed by their ids. All are read from
    /// one state.
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a property that isn't marked; also as ``EntityReader`` says.
    public func loadChildren<Parent: RegisteredEntity, Child: RegisteredEntity>(
        of parents: [Parent], _ property: KeyPath<Parent, [Child]>, orderBy: String? = nil, ascending: Bool = true
    ) async throws -> [Parent.Id: [Child]] where Parent.Id: StorageColumnValue {
        let column = try Relation.foreignKey(of: property).get()
        return try await loadChildren(
            Child.self, where: column, in: parents.map(\.id), orderBy: orderBy, ascending: ascending)
    }
}
