internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageKit
internal import StorageLog

/// Finds out whether the rows covered by a validator may have changed in the store since: the validator isn't sent then, because
/// an answer of "not modified" refers to the remote's rows only.
///
/// Invariant: a refresh that keeps a validator has left the fetched rows as the remote has them
/// (``MergeOutcome/hasKeptRows``). So as long as none of them is changed, "not modified" means that fetching would
/// change nothing.
///
/// If every fetched row matches the query, only changes of matching rows count: those that meet its condition before or
/// afterwards. Otherwise any change of the entity does.
struct ValidatorFreshness<Element: RegisteredEntity>: Sendable {
    let request: QueryRequest<Element>
    let strategy: QueryMergeStrategy<Element>
    let upcasts: [String: Upcast]

    /// If there are more changes, they are assumed to concern the rows.
    private static var maximumEvents: Int { 10_000 }

    /// The query and merge strategy. A validator of another query or strategy is ignored.
    var identity: String {
        let name =
            switch strategy {
            case .replace: "replace"
            case .upsert: "upsert"
            case .append: "append"
            case .custom: "custom"
            }
        let text = request.text
        return "\(name) \(text.sql) [\(text.values)]"
    }

    /// Whether an event alone shows that a matching row was changed.
    ///
    /// Custom merge closures may depend on any row, and conditions in SQL on anything.
    var isDecidable: Bool {
        if case .custom = strategy { return false }
        return request.rows.predicate?.isEvaluable ?? true
    }

    /// Whether the rows may have changed after a position.
    ///
    /// - Parameter isClosed: Whether all fetched rows match the query.
    /// - Complexity: O(*m*) in the number of the entity's changes after the position, up to a limit.
    func mayHaveChanged(behind position: Int64, isClosed: Bool, in connection: Connection) throws -> Bool {
        let catalog = try Catalog.load(connection)
        let table = EntityTableCache.of(Element.Record.self)
        guard let entity = catalog.entity(named: table.name) else { return true }
        let condition = isClosed && isDecidable ? evaluator(of: table, entity) : nil
        var query = LogQuery(tables: [table.name, CatalogEntity.catalog.name])
        query.positions = (position + 1)...Int64.max
        var keys: Set<[StorageValue]> = []
        var isOpen = false
        var count = 0
        try LogReader(connection).forEachEvent(query, catalog: catalog) { batch, index, commit in
            let event = batch.event(at: index, catalog: catalog, commit: commit)
            count += 1
            // Rows of another schema may be fetched with values that they don't have yet.
            isOpen = condition == nil || event.isSchemaChange || count > Self.maximumEvents
            keys.insert(event.key.map(\.value))
            return !isOpen
        }
        guard !isOpen, let condition else { return isOpen }
        let rows = try HistoricalRows<Element.Record>(connection, catalog: catalog, upcasts: upcasts)
        return try keys.contains { key in
            try [position, .max].contains { point in
                guard let row = try rows.row(key, of: entity, at: point) else { return false }
                return condition.evaluate(row.map(\.value)) == true
            }
        }
    }

    /// Nil if there is no condition, or if it can't be evaluated here.
    private func evaluator(of table: EntityTable<Element.Record>, _ entity: CatalogEntity) -> PredicateEvaluator? {
        guard let predicate = request.rows.predicate else { return nil }
        let columns = table.columns.compactMap { declared in
            entity.column(named: declared.name).flatMap { $0.knownCollation == nil ? nil : $0.evaluated }
        }
        guard columns.count == table.columns.count else { return nil }
        // A condition that names an unknown column fails when rows are read.
        return try? PredicateEvaluator(predicate, columns: columns)
    }
}
