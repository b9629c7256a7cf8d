import StorageCore
import StorageLog
import StorageProjections
import StorageSubscriptions

/// The rows that `watch` shows, of a table whose type nobody knows.
struct WatchedList: Sendable {
    let entity: CatalogEntity
    let columns: [CatalogColumn]
    let spec: ListSpec<[StorageValue]>
    /// The place of the column that rows are grouped by.
    let group: Int?
    let page: Int

    init(_ command: WatchCommand, _ store: StoreReader) throws {
        entity = try Self.entity(command.table, store)
        columns = entity.live
        page = command.page
        let table = TableShape(entity)
        guard !table.key.isEmpty else {
            throw CommandError(
                .usage, "\"\(entity.name)\" has no primary key to tell its rows apart.",
                next: "storagekit tail -f --table \(entity.name)")
        }
        var orderings = try Self.orderings(command.order, table)
        group = command.group.flatMap { table.place(of: $0) }
        if let name = command.group {
            guard group != nil else { throw Self.noColumn(name, table) }
            orderings.insert(RowOrdering(name), at: 0)
        }
        var parts: [RowPredicate] = []
        if let condition = command.condition { parts.append(.sql("(\(condition))", [])) }
        if let search = command.search {
            let id = entity.id
            guard let index = try FullTextIndex.load(store.connection).first(where: { $0.entity == id }) else {
                throw CommandError(
                    .notFound, "\"\(entity.name)\" has no full-text index.",
                    next: "--where \"\(table.columns.last?.name ?? "column") LIKE '%…%'\"")
            }
            let rowid = entity.rowidName ?? "rowid"
            let name = quoted(index.table)
            parts.append(.sql("\(rowid) IN (SELECT rowid FROM \(name) WHERE \(name) MATCH ?)", [.text(search)]))
        }
        let count = table.columns.count
        let form = RowForm<[StorageValue]>(table: table) { statement in
            let row = RowReader(statement: statement)
            return (0..<count).map { row.value(at: Int32($0)) }
        }
        let request = RowRequest(
            predicate: parts.isEmpty ? nil : .all(parts), orderings: orderings, limit: command.limit,
            offset: (command.page - 1) * command.limit)
        spec = ListSpec(form, request, counts: true)
    }

    private static func entity(_ name: String, _ store: StoreReader) throws -> CatalogEntity {
        let found = try EntityNames(catalog: store.catalog).users(named: name)
        guard let entity = found.first(where: { !$0.isDropped }) else {
            throw CommandError(
                .notFound, "The table \"\(name)\" is gone.", next: "storagekit log --table \(name)")
        }
        return entity
    }

    private static func orderings(_ text: String?, _ table: TableShape) throws -> [RowOrdering] {
        try (text ?? "").split(separator: ",").map { term in
            let words = term.split(separator: " ").map(String.init)
            let isDescending = words.count > 1 && words.last?.lowercased() == "desc"
            let isAscending = words.count > 1 && words.last?.lowercased() == "asc"
            let name = (isDescending || isAscending ? words.dropLast() : words[...]).joined(separator: " ")
            guard table.place(of: name) != nil else { throw noColumn(name, table) }
            return RowOrdering(name, isDescending ? .descending : .ascending)
        }
    }

    private static func noColumn(_ name: String, _ table: TableShape) -> CommandError {
        CommandError(
            .usage, "\"\(table.name)\" has no column \"\(name)\".",
            next: "Use one of \(table.columns.map(\.name).joined(separator: ", ")).")
    }

    func fields(_ row: [StorageValue]) -> [StorageEvent.Field] {
        zip(columns, row).map { StorageEvent.Field(column: $0.name, value: $1, type: $0.type, coding: $0.coding) }
    }
}
