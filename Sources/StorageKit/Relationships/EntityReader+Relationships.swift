internal import GRDB
public import StorageCore
public import StorageEntities
public import StorageLog

extension EntityReader {
    /// The entity that another refers to, nil where it isn't there.
    public func loadParent<Parent: RegisteredEntity>(_ type: Parent.Type, id: Parent.Id) async throws -> Parent? {
        try await get(type, id: id)
    }

    /// The entities that others refer to, by id, in one query.
    public func loadParents<Parent: RegisteredEntity>(
        _ type: Parent.Type, ids: some Sequence<Parent.Id>
    ) async throws -> [Parent.Id: Parent] {
        let keys = Set(ids).map { Parent.Record.key(of: $0) }
        let column = EntityTables.of(Parent.Record.self).keyColumn
        let parents = try await among(type, column, keys, orderBy: nil, ascending: true)
        return Dictionary(parents.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The entities that refer to one by a column.
    ///
    /// ```swift
    /// let posts = try await storage.loadChildren(
    ///     Post.self, where: "authorId", equals: user.id, orderBy: "createdAt", ascending: false)
    /// ```
    public func loadChildren<Child: RegisteredEntity, Value: StorageColumnValue>(
        _ type: Child.Type, where foreignKey: String, equals parentId: Value, orderBy: String? = nil,
        ascending: Bool = true
    ) async throws -> [Child] {
        try await among(type, foreignKey, [parentId.storageValue], orderBy: orderBy, ascending: ascending)
    }

    /// The entities that refer to any of several by a column, in one query, by whom they refer to. Within each list they
    /// have the order that was asked for.
    public func loadChildren<Child: RegisteredEntity, Value: StorageColumnValue & Hashable>(
        _ type: Child.Type, where foreignKey: String, in parentIds: some Sequence<Value>, orderBy: String? = nil,
        ascending: Bool = true
    ) async throws -> [Value: [Child]] {
        let values = Array(Set(parentIds))
        let table = EntityTables.of(Child.Record.self)
        let column = try table.column(named: foreignKey)
        let index = Int32(table.columns.count)
        let order = try table.order(by: orderBy, ascending: ascending)
        // The place of the id that a row was found by stands behind its columns: the column itself may spell it in
        // another way, where its collation takes both for one.
        let rows = table.select.replacingFirst(" FROM ", with: ", storage_place FROM storage_wanted JOIN ")
        var children: [Value: [Child]] = [:]
        for start in stride(from: 0, to: values.count, by: Self.parametersOfAQuery) {
            let part = Array(values[start..<min(start + Self.parametersOfAQuery, values.count)])
            let wanted = part.indices.map { "(\($0), ?)" }.joined(separator: ", ")
            let text = QuerySQL.Text(
                sql:
                    "WITH storage_wanted(storage_place, storage_id) AS (VALUES \(wanted)) \(rows) ON \(column) = storage_id\(order)",
                values: part.map(\.storageValue))
            let found: [(Value, Child)] = try await reading([table.name]) { db in
                try text.run(db) { rows in
                    var found: [(Value, Child)] = []
                    while try rows.next() {
                        let parent = part[Int(try rows.row.read(Int64.self, at: index))]
                        found.append((parent, try Child.Record(reading: rows.row).asEntity()))
                    }
                    return found
                }
            }
            for (parent, child) in found { children[parent, default: []].append(child) }
        }
        return children
    }

    /// What refers to an entity by a property that is marked `@StorageHasMany`.
    ///
    /// ```swift
    /// user.posts = try await storage.loadChildren(of: user, \.posts)
    /// ```
    public func loadChildren<Parent: RegisteredEntity, Child: RegisteredEntity>(
        of parent: Parent, _ property: KeyPath<Parent, [Child]>, orderBy: String? = nil, ascending: Bool = true
    ) async throws -> [Child] {
        let column = try Self.foreignKey(of: property)
        return try await among(
            Child.self, column, [Parent.Record.key(of: parent.id)], orderBy: orderBy, ascending: ascending)
    }

    /// What refers to several entities by a property that is marked `@StorageHasMany`, in one query, by their ids.
    public func loadChildren<Parent: RegisteredEntity, Child: RegisteredEntity>(
        of parents: [Parent], _ property: KeyPath<Parent, [Child]>, orderBy: String? = nil, ascending: Bool = true
    ) async throws -> [Parent.Id: [Child]] where Parent.Id: StorageColumnValue {
        let column = try Self.foreignKey(of: property)
        return try await loadChildren(
            Child.self, where: column, in: parents.map(\.id), orderBy: orderBy, ascending: ascending)
    }

    private static var parametersOfAQuery: Int { 30_000 }

    private static func foreignKey<Parent: RegisteredEntity>(of property: PartialKeyPath<Parent>) throws -> String {
        if let column = Parent.Record.foreignKey(of: property) { return column }
        throw StorageError(
            .invalidArgument, "The property of \(Parent.self) isn't marked as a relationship.",
            remedy: "Mark it with @StorageHasMany(foreignKey:), or name the column with loadChildren(_:where:equals:).")
    }

    private func among<E: RegisteredEntity>(
        _ type: E.Type, _ column: String, _ values: [StorageValue], orderBy: String?, ascending: Bool
    ) async throws -> [E] {
        var rows = RowRequest(
            predicate: values.count == 1
                ? .comparison(column: column, .same, .value(values[0])) : .among(column: column, values))
        if let orderBy { rows.orderings.append(RowOrdering(orderBy, ascending ? .ascending : .descending)) }
        if orderBy == nil, !ascending {
            rows.orderings.append(RowOrdering(EntityTables.of(E.Record.self).keyColumn, .descending))
        }
        let run = QueryRun(request: QueryRequest<E>(rows))
        return try await reading([E.Record.databaseTableName]) { try run.fetch($0) }
    }
}

extension String {
    fileprivate func replacingFirst(_ text: String, with other: String) -> String {
        guard let range = range(of: text, options: .backwards) else { return self }
        return replacingCharacters(in: range, with: other)
    }
}
