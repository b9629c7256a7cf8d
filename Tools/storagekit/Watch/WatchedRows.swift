import StorageKit

/// What `watch` shows of a table without its Swift type: rows, or aggregates of them.
struct WatchedRows: Sendable {
    struct Column: Sendable {
        let name: String
        var type = ""
        var coding = ""
    }

    private enum Source {
        case list(ListSpec<[StorageValue]>)
        case aggregate(AggregateSpec)
        case query(WatchedQuery)
    }

    let name: String
    let columns: [Column]
    /// The index of the column by whose values rows are grouped.
    let heading: Int?
    /// The columns that identify a row: those of the key, or of a group; the first one of a SELECT.
    let keyIndices: [Int]
    /// The number of rows before a page of which only its own rows are read; nil where all are counted.
    private(set) var uncountedOffset: Int?
    private let source: Source

    init(_ command: WatchCommand, _ store: HistoryReader) throws {
        guard let tableName = command.table else {
            let query = try WatchedQuery(QuerySQL.Text(sql: command.sql ?? ""), store)
            name = "query"
            columns = query.columns
            heading = nil
            keyIndices = [0]
            source = .query(query)
            return
        }
        let entity = try Self.entity(tableName, store)
        name = entity.name
        let table = QueryTable(entity)
        let all = entity.live.map { Column(name: $0.name, type: $0.type, coding: $0.coding) }
        guard !table.key.isEmpty else {
            throw CommandError(
                .usage, "\"\(entity.name)\" has no primary key to identify its rows.",
                next: "Type: storagekit tail -f --table \(entity.name.quotedAsShellWord)")
        }
        let group = try command.group.map { name in
            guard let index = table.columnIndex(of: name) else { throw Self.noColumn(name, table) }
            return index
        }
        var request = RowRequest(predicate: try Self.predicate(command, of: entity, in: store))
        if let aggregate = command.aggregate {
            let terms = try WatchedTerms(aggregate, all.map(\.name)) { Self.noColumn($0, table) }
            let groups = group.map { [all[$0]] } ?? []
            columns = groups + terms.columns(all)
            heading = nil
            keyIndices = Array(groups.indices)
            source = .aggregate(AggregateSpec(table, request, groups: groups.map(\.name), terms: terms.terms))
            return
        }
        request.orderings = try Self.orderings(command.order, table)
        if let group { request.orderings.insert(RowOrdering(all[group].name), at: 0) }
        let limit = command.limit ?? WatchCommand.usualLimit
        request.limit = limit
        request.offset = ((command.page ?? 1) - 1) * limit
        guard command.includes.isEmpty else {
            let included = try command.includes.map { try WatchedQuery.Included($0, store) }
            let query = try WatchedQuery(WatchedQuery.page(request, of: table, including: included), store)
            columns = query.columns
            heading = nil
            keyIndices = [0]
            uncountedOffset = request.offset
            source = .query(query)
            return
        }
        let count = table.columns.count
        let form = RowForm<[StorageValue]>(table: table) { row in
            return (0..<count).map { row.value(at: Int32($0)) }
        }
        columns = all
        heading = group
        keyIndices = table.key
        source = .list(ListSpec(form, request, counts: true))
    }

    /// Follows the rows as long as the returned handle is kept.
    func follow(
        _ storage: Storage, by engine: SubscriptionEngine, into updates: WatchedUpdates
    ) async throws -> any Sendable {
        let finish = { @Sendable in updates.end() }
        switch source {
        case .query(let query): return query.follow(storage, into: updates)
        case .list(let spec):
            return try await engine.open {
                try $0.add(ListNode(spec), PendingUpdate(immediately: { updates.put($0) }, onEnd: finish))
            }
        case .aggregate(let spec):
            return try await engine.open {
                try $0.add(
                    AggregateNode(spec),
                    PendingUpdate(immediately: { updates.put($0.map { $0.key + $0.values }) }, onEnd: finish))
            }
        }
    }

    private static func check(_ condition: String, of entity: CatalogEntity, in store: HistoryReader) throws {
        do {
            _ = try PreparedStatement(
                query: "SELECT 1 FROM \(quoted(entity.stored)) WHERE (\(condition)\n)", on: store.connection)
        } catch let error as StorageError {
            throw CommandError(condition: condition, of: entity, error, catalog: store.catalog)
        }
    }

    private static func predicate(
        _ command: WatchCommand, of entity: CatalogEntity, in store: HistoryReader
    ) throws -> RowPredicate? {
        var parts: [RowPredicate] = []
        if let condition = command.condition {
            try check(condition, of: entity, in: store)
            parts.append(.sql("(\(condition)\n)", []))
        }
        if let search = command.search {
            guard let index = try FullTextIndex.load(store.connection).first(where: { $0.entity == entity.id }) else {
                let texts = entity.live.filter { $0.affinity == .text }
                let column = texts.first { $0.keyOrdinal == 0 } ?? texts.first ?? entity.live.last
                throw CommandError(
                    .notFound, "\"\(entity.name)\" has no full-text index.",
                    next: "--where \"\(column?.name ?? "column") LIKE '%…%'\"")
            }
            let rowid = entity.rowidName ?? "rowid"
            let name = quoted(index.table)
            parts.append(.sql("\(rowid) IN (SELECT rowid FROM \(name) WHERE \(name) MATCH ?)", [.text(search)]))
        }
        return parts.isEmpty ? nil : .all(parts)
    }

    static func entity(_ name: String, _ store: HistoryReader) throws -> CatalogEntity {
        let found = try EntityNames(store).users(named: name)
        guard let entity = found.first(where: { !$0.isDropped }) else {
            throw CommandError(
                .notFound, "The table \"\(name)\" was dropped.",
                next: "Type: storagekit log --table \(name.quotedAsShellWord)")
        }
        return entity
    }

    private static func orderings(_ text: String?, _ table: QueryTable) throws -> [RowOrdering] {
        try (text ?? "").split(separator: ",").map { term in
            let words = term.split(separator: " ").map(String.init)
            let isDescending = words.count > 1 && words.last?.lowercased() == "desc"
            let isAscending = words.count > 1 && words.last?.lowercased() == "asc"
            let name = (isDescending || isAscending ? words.dropLast() : words[...]).joined(separator: " ")
            guard table.columnIndex(of: name) != nil else { throw noColumn(name, table) }
            return RowOrdering(name, isDescending ? .descending : .ascending)
        }
    }

    static func noColumn(_ name: String, _ table: QueryTable) -> CommandError {
        CommandError(
            .usage, "\"\(table.name)\" has no column \"\(name)\".",
            next: "Use one of \(table.columns.map(\.name).joined(separator: ", ")).")
    }

    func fields(_ row: [StorageValue]) -> [StorageEvent.Field] {
        zip(columns, row).map { StorageEvent.Field(column: $0.name, value: $1, type: $0.type, coding: $0.coding) }
    }
}
