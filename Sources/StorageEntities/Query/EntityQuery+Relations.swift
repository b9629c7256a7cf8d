public import StorageCore

// Relationships in queries: marked properties, or columns that are named.

extension EntityQuery {
    /// A query for related rows, in the scope of this one.
    package func relatedRequest<Other: RegisteredEntity>() -> QueryRequest<Other> {
        request.scope?.request() ?? QueryRequest()
    }

    private func related<Value>(
        _ value: Result<Value, StorageError>, _ change: (Value, inout QueryRequest<Entity>) -> Void
    ) -> Self {
        var copy = self
        switch value {
        case .success(let value): change(value, &copy.request)
        // Queries are put together without `try`: the call that runs them throws it.
        case .failure(let error): copy.request.rows.invalid = copy.request.rows.invalid ?? error
        }
        return copy
    }
}

// MARK: Including

extension EntityQuery {
    /// Also reads the rows of a property marked `@StorageHasMany`, and stores them in each entity's property.
    ///
    /// ```swift
    /// let authors = try await storage.query(Author.self)
    ///     .include(\.books) { $0.where { $0.year >= 1900 }.orderBy(\.year, .descending).limit(3) }
    ///     .fetch()
    /// print(authors[0].books)
    /// ```
    ///
    /// A limit applies to each entity. The inner query can include rows itself. Everything is read in one state, with one
    /// statement run for each entity, so the foreign key needs an index: see ``QueryExplanation/warnings``. `count`, `exists`
    /// and aggregates don't read included rows.
    ///
    /// The call that runs the query throws `invalid-argument` if the property isn't marked.
    public func include<Child: RegisteredEntity>(
        _ children: any WritableKeyPath<Entity, [Child]> & Sendable,
        _ query: (QueryRequest<Child>) -> QueryRequest<Child> = { $0 }
    ) -> Self {
        including(children, query(relatedRequest()), Relation.foreignKey(of: children))
    }

    /// Also reads the rows whose column holds an entity's key, and stores them in a property that has no column.
    ///
    /// - Parameter foreignKey: The other entity's column that holds the key.
    public func include<Child: RegisteredEntity, Key>(
        _ children: any WritableKeyPath<Entity, [Child]> & Sendable,
        by foreignKey: KeyPath<Child.Record.Columns, StorageColumn<Key>>,
        _ query: (QueryRequest<Child>) -> QueryRequest<Child> = { $0 }
    ) -> Self {
        including(children, query(relatedRequest()), .success(Child.Record.columns[keyPath: foreignKey].name))
    }

    private func including<Child: RegisteredEntity>(
        _ children: any WritableKeyPath<Entity, [Child]> & Sendable, _ query: QueryRequest<Child>,
        _ foreignKey: Result<String, StorageError>
    ) -> Self {
        related(foreignKey.map { .children(of: Entity.self, Child.self, by: $0) }) { relation, request in
            request.include(IncludedRows(relation, query) { rows, owner in owner[keyPath: children] = rows })
        }
    }

    /// Also reads the row that a property marked `@StorageBelongsTo` refers to, and stores it in each entity's property; nil if
    /// the row doesn't exist or the inner query doesn't find it.
    ///
    /// ```swift
    /// let books = try await storage.query(Book.self).include(\.author).fetch()
    /// ```
    ///
    /// The call that runs the query throws `invalid-argument` if the property isn't marked.
    public func include<Parent: RegisteredEntity>(
        _ parent: any WritableKeyPath<Entity, Parent?> & Sendable,
        _ query: (QueryRequest<Parent>) -> QueryRequest<Parent> = { $0 }
    ) -> Self {
        including(parent, query(relatedRequest()), Relation.foreignKey(of: parent))
    }

    /// Also reads the row whose key a column holds, and stores it in a property that has no column.
    ///
    /// - Parameter foreignKey: The column of this entity that holds the other's key.
    public func include<Parent: RegisteredEntity, Key>(
        _ parent: any WritableKeyPath<Entity, Parent?> & Sendable,
        through foreignKey: KeyPath<Entity.Record.Columns, StorageColumn<Key>>,
        _ query: (QueryRequest<Parent>) -> QueryRequest<Parent> = { $0 }
    ) -> Self {
        including(parent, query(relatedRequest()), .success(Entity.Record.columns[keyPath: foreignKey].name))
    }

    private func including<Parent: RegisteredEntity>(
        _ parent: any WritableKeyPath<Entity, Parent?> & Sendable, _ query: QueryRequest<Parent>,
        _ foreignKey: Result<String, StorageError>
    ) -> Self {
        related(foreignKey.map { .parent(of: Entity.self, Parent.self, through: $0) }) { relation, request in
            request.include(IncludedRows(relation, query) { rows, owner in owner[keyPath: parent] = rows.first })
        }
    }
}

// MARK: Conditions on related rows

extension EntityQuery {
    /// Keeps the entities with at least one related row, in a property marked `@StorageHasMany`, for which the condition is
    /// true.
    ///
    /// ```swift
    /// let authors = try await storage.query(Author.self).has(\.books) { $0.year >= 2000 }.fetch()
    /// ```
    ///
    /// The call that runs the query throws `invalid-argument` if the property isn't marked.
    public func has<Child: RegisteredEntity>(
        _ children: KeyPath<Entity, [Child]>,
        where condition: (ColumnRef<Child>) -> RowPredicate = { _ in .constant(true) }
    ) -> Self {
        has(children, matching: QueryRequest().where(condition))
    }

    /// Keeps the entities with at least one related row, in a property marked `@StorageHasMany`, that another query finds. It
    /// can have such conditions itself:
    ///
    /// ```swift
    /// storage.query(Author.self).has(\.books, matching: Book.all().has(\.chapters) { $0.pages > 100 })
    /// ```
    ///
    /// The other query can't have a limit or an offset; its order is ignored.
    public func has<Child: RegisteredEntity>(
        _ children: KeyPath<Entity, [Child]>, matching query: QueryRequest<Child>
    ) -> Self {
        relating(
            query, isNegated: false,
            Relation.foreignKey(of: children).map { .children(of: Entity.self, Child.self, by: $0) })
    }

    /// Keeps the entities without a related row, in a property marked `@StorageHasMany`, for which the condition is true.
    public func hasNo<Child: RegisteredEntity>(
        _ children: KeyPath<Entity, [Child]>,
        where condition: (ColumnRef<Child>) -> RowPredicate = { _ in .constant(true) }
    ) -> Self {
        hasNo(children, matching: QueryRequest().where(condition))
    }

    /// Keeps the entities without a related row, in a property marked `@StorageHasMany`, that another query finds.
    public func hasNo<Child: RegisteredEntity>(
        _ children: KeyPath<Entity, [Child]>, matching query: QueryRequest<Child>
    ) -> Self {
        relating(
            query, isNegated: true,
            Relation.foreignKey(of: children).map { .children(of: Entity.self, Child.self, by: $0) })
    }

    /// Keeps the entities for which the row that a property marked `@StorageBelongsTo` refers to exists and meets the
    /// condition.
    ///
    /// ```swift
    /// let books = try await storage.query(Book.self).has(\.author) { $0.country == "UA" }.fetch()
    /// ```
    public func has<Parent: RegisteredEntity>(
        _ parent: KeyPath<Entity, Parent?>,
        where condition: (ColumnRef<Parent>) -> RowPredicate = { _ in .constant(true) }
    ) -> Self {
        has(parent, matching: QueryRequest().where(condition))
    }

    /// Keeps the entities for which another query finds the row that a property marked `@StorageBelongsTo` refers to.
    public func has<Parent: RegisteredEntity>(
        _ parent: KeyPath<Entity, Parent?>, matching query: QueryRequest<Parent>
    ) -> Self {
        relating(
            query, isNegated: false,
            Relation.foreignKey(of: parent).map { .parent(of: Entity.self, Parent.self, through: $0) })
    }

    /// Keeps the entities for which the row that a property marked `@StorageBelongsTo` refers to doesn't exist or doesn't meet
    /// the condition.
    public func hasNo<Parent: RegisteredEntity>(
        _ parent: KeyPath<Entity, Parent?>,
        where condition: (ColumnRef<Parent>) -> RowPredicate = { _ in .constant(true) }
    ) -> Self {
        hasNo(parent, matching: QueryRequest().where(condition))
    }

    /// Keeps the entities for which another query doesn't find the row that a property marked `@StorageBelongsTo` refers to.
    public func hasNo<Parent: RegisteredEntity>(
        _ parent: KeyPath<Entity, Parent?>, matching query: QueryRequest<Parent>
    ) -> Self {
        relating(
            query, isNegated: true,
            Relation.foreignKey(of: parent).map { .parent(of: Entity.self, Parent.self, through: $0) })
    }

    /// Keeps the entities whose key is in a column of at least one row of another entity for which the condition is true.
    ///
    /// - Parameter foreignKey: The other entity's column that holds the key.
    public func has<Child: RegisteredEntity, Key>(
        _ child: Child.Type, by foreignKey: KeyPath<Child.Record.Columns, StorageColumn<Key>>,
        where condition: (ColumnRef<Child>) -> RowPredicate = { _ in .constant(true) }
    ) -> Self {
        relating(
            QueryRequest<Child>().where(condition), isNegated: false,
            .success(.children(of: Entity.self, child, by: Child.Record.columns[keyPath: foreignKey].name)))
    }

    /// Keeps the entities whose key isn't in a column of any row of another entity for which the condition is true.
    ///
    /// - Parameter foreignKey: The other entity's column that holds the key.
    public func hasNo<Child: RegisteredEntity, Key>(
        _ child: Child.Type, by foreignKey: KeyPath<Child.Record.Columns, StorageColumn<Key>>,
        where condition: (ColumnRef<Child>) -> RowPredicate = { _ in .constant(true) }
    ) -> Self {
        relating(
            QueryRequest<Child>().where(condition), isNegated: true,
            .success(.children(of: Entity.self, child, by: Child.Record.columns[keyPath: foreignKey].name)))
    }

    /// Keeps the entities whose column holds the key of another entity's row for which the condition is true.
    ///
    /// - Parameter foreignKey: The column of this entity that holds the other's key.
    public func has<Parent: RegisteredEntity, Key>(
        _ parent: Parent.Type, through foreignKey: KeyPath<Entity.Record.Columns, StorageColumn<Key>>,
        where condition: (ColumnRef<Parent>) -> RowPredicate = { _ in .constant(true) }
    ) -> Self {
        relating(
            QueryRequest<Parent>().where(condition), isNegated: false,
            .success(.parent(of: Entity.self, parent, through: Entity.Record.columns[keyPath: foreignKey].name)))
    }

    /// Keeps the entities whose column holds no key of another entity's row for which the condition is true.
    ///
    /// - Parameter foreignKey: The column of this entity that holds the other's key.
    public func hasNo<Parent: RegisteredEntity, Key>(
        _ parent: Parent.Type, through foreignKey: KeyPath<Entity.Record.Columns, StorageColumn<Key>>,
        where condition: (ColumnRef<Parent>) -> RowPredicate = { _ in .constant(true) }
    ) -> Self {
        relating(
            QueryRequest<Parent>().where(condition), isNegated: true,
            .success(.parent(of: Entity.self, parent, through: Entity.Record.columns[keyPath: foreignKey].name)))
    }

    private func relating<Other: RegisteredEntity>(
        _ query: QueryRequest<Other>, isNegated: Bool, _ relation: Result<Relation, StorageError>
    ) -> Self {
        let rows = query.rows
        var relation = relation
        if let invalid = rows.invalid { relation = .failure(invalid) }
        if rows.limit != nil || rows.offset != 0 {
            relation = .failure(
                StorageError(
                    .invalidArgument, "A condition on related rows can't have a limit or an offset.",
                    remedy:
                        "Leave limit and offset out of the query for \"\(EntityTableCache.of(Other.Record.self).name)\"."
                ))
        }
        return related(relation) { relation, request in
            let condition = RelatedCondition(
                relation: relation, predicate: rows.predicate, relations: rows.relations, isNegated: isNegated)
            // A query of the same scope has the scope's conditions already, which may be in SQL.
            guard let scope = request.scope, query.scope !== scope else {
                return request.rows.relations.append(condition)
            }
            request.check { rows throws(StorageError) in rows.relations.append(try scope.apply(to: condition)) }
        }
    }
}
