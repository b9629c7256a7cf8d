internal import GRDB
internal import StorageCore
internal import StorageLog

/// The queries of relationships, on any connection.
enum RelationshipQueries {
    /// The number of parents whose children are read from a view of the past: there is a statement for each.
    static let fewParents = 32

    static func parents<Parent: RegisteredEntity>(
        _ keys: Set<StorageValue>, in db: GRDB.Database
    ) throws -> [Parent.Id: Parent] {
        let column = EntityTableCache.of(Parent.Record.self).keyColumn
        let parents: [Parent] = try rows(
            where: column, among: Array(keys), orderBy: nil, ascending: true, in: db)
        return Dictionary(parents.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    static func condition(where column: String, among values: [StorageValue]) -> RowPredicate {
        values.count == 1 ? .comparison(column: column, .same, .value(values[0])) : .among(column: column, values)
    }

    static func rows<E: RegisteredEntity>(
        where column: String, among values: [StorageValue], orderBy: String?, ascending: Bool, in db: GRDB.Database
    ) throws -> [E] {
        var rows = RowRequest(predicate: condition(where: column, among: values))
        if let orderBy { rows.orderings.append(RowOrdering(orderBy, ascending ? .ascending : .descending)) }
        if orderBy == nil, !ascending {
            rows.orderings.append(RowOrdering(EntityTableCache.of(E.Record.self).keyColumn, .descending))
        }
        return try QueryRun(request: QueryRequest<E>(rows)).fetch(db)
    }

    /// Reads children with one statement, prepared once and run for each parent, as ``EntityRows`` does. Parents are distinguished by
    /// their bytes: two texts that Swift considers equal share a list, with each child once.
    static func children<Child: RegisteredEntity, Value: StorageColumnValue & Hashable>(
        _ type: Child.Type, where foreignKey: String, in parents: [Value], orderBy: String?, ascending: Bool,
        in db: GRDB.Database
    ) throws -> [Value: [Child]] {
        _ = try EntityTableCache.of(Child.Record.self).column(named: foreignKey)
        var children: [Value: [Child]] = [:]
        // Equal numbers find the same rows.
        var known: Set<[UInt8]> = []
        // Nothing refers to NULL.
        for parent in parents where parent.storageValue != .null {
            guard known.insert(KeyCoding.encodeNumerically([parent.storageValue])).inserted else { continue }
            let found: [Child] = try rows(
                where: foreignKey, among: [parent.storageValue], orderBy: orderBy, ascending: ascending, in: db)
            guard let listed = children[parent] else {
                if !found.isEmpty { children[parent] = found }
                continue
            }
            // A collation that considers the parents equal as well has found the same rows.
            func key(_ child: Child) -> [UInt8] { KeyCoding.encode([Child.Record.key(of: child.id)]) }
            let keys = Set(listed.map(key))
            children[parent] = listed + found.filter { !keys.contains(key($0)) }
        }
        return children
    }
}
