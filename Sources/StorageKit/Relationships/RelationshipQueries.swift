internal import GRDB
internal import StorageCore
internal import StorageLog

/// The queries of relationships, on any connection.
enum RelationshipQueries {
    static func parents<Parent: RegisteredEntity>(
        _ keys: Set<StorageValue>, in db: GRDB.Database
    ) throws -> [Parent.Id: Parent] {
        let column = EntityTableCache.of(Parent.Record.self).keyColumn
        let parents: [Parent] = try rows(
            where: column, among: Array(keys), orderBy: nil, ascending: true, in: db)
        return Dictionary(parents.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    static func rows<E: RegisteredEntity>(
        where column: String, among values: [StorageValue], orderBy: String?, ascending: Bool, in db: GRDB.Database
    ) throws -> [E] {
        var rows = RowRequest(
            predicate: values.count == 1
                ? .comparison(column: column, .same, .value(values[0])) : .among(column: column, values))
        if let orderBy { rows.orderings.append(RowOrdering(orderBy, ascending ? .ascending : .descending)) }
        if orderBy == nil, !ascending {
            rows.orderings.append(RowOrdering(EntityTableCache.of(E.Record.self).keyColumn, .descending))
        }
        return try QueryRun(request: QueryRequest<E>(rows)).fetch(db)
    }

    /// Reads children with one statement, prepared once and run for each parent, as ``EntityRows`` does.
    static func children<Child: RegisteredEntity, Value: StorageColumnValue & Hashable>(
        _ type: Child.Type, where foreignKey: String, in parents: Set<Value>, orderBy: String?, ascending: Bool,
        in db: GRDB.Database
    ) throws -> [Value: [Child]] {
        _ = try EntityTableCache.of(Child.Record.self).column(named: foreignKey)
        var children: [Value: [Child]] = [:]
        // Nothing refers to NULL.
        for parent in parents where parent.storageValue != .null {
            let found: [Child] = try rows(
                where: foreignKey, among: [parent.storageValue], orderBy: orderBy, ascending: ascending, in: db)
            if !found.isEmpty { children[parent] = found }
        }
        return children
    }
}
