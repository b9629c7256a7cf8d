internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageLog

/// What relationships ask, on whichever connection.
enum Relationships {
    private static let parametersOfAQuery = 30_000

    static func parents<Parent: RegisteredEntity>(
        _ keys: Set<StorageValue>, in db: GRDB.Database
    ) throws -> [Parent.Id: Parent] {
        let column = EntityTables.of(Parent.Record.self).keyColumn
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
            rows.orderings.append(RowOrdering(EntityTables.of(E.Record.self).keyColumn, .descending))
        }
        return try QueryRun(request: QueryRequest<E>(rows)).fetch(db)
    }

    static func children<Child: RegisteredEntity, Value: StorageColumnValue & Hashable>(
        _ type: Child.Type, where foreignKey: String, in parents: Set<Value>, orderBy: String?, ascending: Bool,
        in db: GRDB.Database
    ) throws -> [Value: [Child]] {
        let values = Array(parents)
        let table = EntityTables.of(Child.Record.self)
        let column = try table.column(named: foreignKey)
        let index = Int32(table.columns.count)
        let order = try table.order(by: orderBy, ascending: ascending)
        // The place of the id that a row was found by stands behind its columns: the column itself may spell it in
        // another way, where its collation takes both for one.
        let rows = table.select.replacingFirst(" FROM ", with: ", storage_place FROM storage_wanted JOIN ")
        var children: [Value: [Child]] = [:]
        for start in stride(from: 0, to: values.count, by: parametersOfAQuery) {
            let part = Array(values[start..<min(start + parametersOfAQuery, values.count)])
            let wanted = part.indices.map { "(\($0), ?)" }.joined(separator: ", ")
            let text = QuerySQL.Text(
                sql:
                    "WITH storage_wanted(storage_place, storage_id) AS (VALUES \(wanted)) \(rows) ON \(column) = storage_id\(order)",
                values: part.map(\.storageValue))
            try text.run(db) { rows in
                while try rows.next() {
                    let parent = part[Int(try rows.row.read(Int64.self, at: index))]
                    children[parent, default: []].append(try Child.Record(reading: rows.row).asEntity())
                }
            }
        }
        return children
    }
}

extension String {
    fileprivate func replacingFirst(_ text: String, with other: String) -> String {
        guard let range = range(of: text, options: .backwards) else { return self }
        return replacingCharacters(in: range, with: other)
    }
}
