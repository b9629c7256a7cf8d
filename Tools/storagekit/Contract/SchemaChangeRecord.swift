import StorageKit

/// A line of `schema diff`: a change of a table or column.
///
/// - `change`: `table-added`, `table-dropped`, `table-renamed`, `table-redefined`, `column-added`, `column-dropped`,
///   `column-renamed`, `column-changed` or `column-converted`.
/// - `table`: The table's name after the change.
/// - `columns`: Of a new table, a ``ColumnRecord`` each.
/// - `from`: Of a renamed table, its previous name.
/// - `column`: Of a column, its name after the change, or before if it was dropped.
/// - `old`, `new`: Of a column, its ``ColumnRecord`` before and after; null if there is none.
struct SchemaChangeRecord: JSONRecord {
    let change: SchemaChange

    func write(to json: inout JSONWriter) throws {
        let entity = change.entity
        json.member("change", change.name)
        json.member("table", entity.name)
        switch change {
        case .tableAdded(let entity):
            try json.member("columns", entity.live.map { ColumnRecord(column: $0, entity: entity) })
        case .tableDropped, .tableRedefined: break
        case .tableRenamed(let old, _): json.member("from", old.name)
        case .columnAdded(let column, _): try write(old: nil, new: column, to: &json)
        case .columnDropped(let column, _): try write(old: column, new: nil, to: &json)
        case .columnRenamed(let old, let new, _), .columnChanged(let old, let new, _),
            .columnConverted(let old, let new, _):
            try write(old: old, new: new, to: &json)
        }
    }

    private func write(old: CatalogColumn?, new: CatalogColumn?, to json: inout JSONWriter) throws {
        json.member("column", (new ?? old)?.name ?? "")
        try json.member("old", old.map { ColumnRecord(column: $0, entity: change.entity) })
        try json.member("new", new.map { ColumnRecord(column: $0, entity: change.entity) })
    }
}

extension SchemaChange {
    fileprivate var name: String {
        switch self {
        case .tableAdded: "table-added"
        case .tableDropped: "table-dropped"
        case .tableRenamed: "table-renamed"
        case .tableRedefined: "table-redefined"
        case .columnAdded: "column-added"
        case .columnDropped: "column-dropped"
        case .columnRenamed: "column-renamed"
        case .columnChanged: "column-changed"
        case .columnConverted: "column-converted"
        }
    }
}
