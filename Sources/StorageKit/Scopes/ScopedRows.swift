internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageLog

/// Maps the events of a log to those that a scope shows.
///
/// An update holds only the columns that it changes; whether its row is in the scope may depend on others, which are looked up in the row's earlier
/// events. The latest images of rows are kept, so that each further event costs one look-up.
struct ScopedRows: Sendable {
    fileprivate struct Condition {
        let entity: CatalogEntity
        /// Evaluates the condition; nil if all rows are in the scope.
        let evaluator: PredicateEvaluator?
        let columns: [CatalogColumn]
        /// The columns that the condition names.
        let used: [CatalogColumn]
    }

    private let scope: StorageScope
    /// Rows as of the last of their events that was read. The position shows whether that event directly precedes another.
    private var images: [RowAddress: RowImage] = [:]
    private static let maximumImages = 10_000

    init(_ scope: StorageScope) { self.scope = scope }

    /// Returns the events of a commit as the scope shows them.
    mutating func visibleEvents(of change: CommitChanges, _ connection: Connection) throws -> [StorageEvent] {
        let reader = LogReader(connection)
        let catalog = try Catalog.load(connection)
        var conditions: [String: Condition] = [:]
        return try change.events.compactMap { event in
            guard let entity = catalog.entity(named: event.table) else { return nil }
            let condition = try conditions[event.table] ?? self.condition(of: entity)
            conditions[event.table] = condition
            return try visibleEvent(event, condition, reader)
        }
    }

    private func condition(of entity: CatalogEntity) throws -> Condition {
        let columns = entity.live
        guard let predicate = try scope.condition(of: entity.name) else {
            return Condition(entity: entity, evaluator: nil, columns: columns, used: [])
        }
        let names = predicate.columns
        let used = columns.filter { names?.contains($0.name) ?? true }
        if let own = used.first(where: { $0.knownCollation == nil }) {
            throw StorageError(
                .invalidArgument,
                "\"\(entity.name).\(own.name)\" has the collation \(own.collation), which only SQLite knows.",
                remedy: "Follow a query of the scope instead, or give the scope a condition on another column.")
        }
        return Condition(
            entity: entity, evaluator: try PredicateEvaluator(predicate, columns: columns.map(\.evaluated)),
            columns: columns, used: used)
    }

    private mutating func visibleEvent(
        _ event: StorageEvent, _ condition: Condition, _ reader: LogReader
    ) throws -> StorageEvent? {
        guard condition.evaluator != nil else { return event }
        let key = event.key.map(\.value)
        let row = RowAddress(entity: condition.entity.id, values: key)
        var old = images[row]
        if old?.position != event.previous {
            old = event.previous == 0 ? nil : try reader.image(ofEventAt: event.previous).image
        }
        let new = event.operation == .delete ? nil : try reader.image(ofEventAt: event.position, on: old)
        if images.count >= Self.maximumImages { images = [:] }
        images[row] = new
        switch (condition.isMet(by: old, key), condition.isMet(by: new, key)) {
        case (true, true): return event
        case (false, true): return new.map { event.insert(of: condition.fields($0)) }
        case (true, false): return old.map { event.delete(of: condition.fields($0)) }
        case (false, false): return nil
        }
    }
}

extension ScopedRows.Condition {
    /// Whether the scope shows a row.
    fileprivate func isMet(by image: RowImage?, _ key: [StorageValue]) -> Bool {
        guard let image else { return false }
        guard let evaluator else { return true }
        // A value that was converted later can't be derived from the log alone.
        guard used.allSatisfy({ $0.origin == 0 || $0.keyOrdinal > 0 || image.cells[$0.id] != nil }) else {
            return false
        }
        return evaluator.evaluate(
            columns.map { column in
                column.keyOrdinal > 0 ? key[column.keyOrdinal - 1] : image.value(of: column).value
            }) ?? false
    }

    /// All columns of a row but its key.
    fileprivate func fields(_ image: RowImage) -> [StorageEvent.Field] {
        columns.filter { $0.keyOrdinal == 0 }.map { StorageEvent.Field(image.value(of: $0).value, of: $0) }
    }
}

extension StorageEvent {
    /// Returns the event as an insert of its row.
    fileprivate func insert(of fields: [Field]) -> StorageEvent {
        StorageEvent(
            position: position, commit: commit, operation: .insert, table: table, key: key, old: nil, new: fields,
            previous: 0)
    }

    /// Returns the event as a delete of its row.
    fileprivate func delete(of fields: [Field]) -> StorageEvent {
        StorageEvent(
            position: position, commit: commit, operation: .delete, table: table, key: key, old: fields, new: nil,
            previous: previous)
    }
}
