internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageLog

/// Reads whole rows before and after a batch. The event of an update contains only the changed columns.
///
/// The event of an insert or a delete contains the whole row. For an update the current row is read from its table, and
/// later changes are undone. While much of the log is read in one go, the rows are cached: each entry is valid as long
/// as the row's next event refers to it as the previous one, so the cache needs no invalidation. Only an insert of a row that
/// another program had deleted has no such reference: its earlier row is found only if it was read in the same run.
///
/// Isolation: used on its connection's thread only.
final class RowResolver {
    private let source: any RowSource
    private let upcasts: [String: Upcast]
    /// Whether tables may be ahead of the batch.
    private let isBehind: Bool
    private let cache: RowStateCache?
    private let reader: LogReader

    init(_ source: any RowSource, upcasts: [String: Upcast], isBehind: Bool, cache: RowStateCache?) {
        self.source = source
        self.upcasts = upcasts
        self.isBehind = isBehind
        self.cache = cache
        reader = LogReader(source.database)
    }

    /// The net change of one row by several events, with the whole row before and after.
    ///
    /// - Parameter events: All events of one row in the batch.
    /// - Returns: Nil if it was inserted and deleted again.
    func net(_ events: [RowEvent]) throws -> RowEvent? {
        let (first, last) = (events[0], events[events.count - 1])
        let entity = try entity(of: first)
        let changes = events.map { settled($0.change, of: entity) }
        let net = changes.dropFirst().reduce(changes[0]) { $0.followed(by: $1) }
        let before: [NetRow.Cell]?
        let after: [NetRow.Cell]?
        if net.existed, let known = try cache?.row(first.row, at: first.previous) {
            (before, after) = (known, net.after(known))
        } else if !net.existed, first.previous == 0,
            let replaced = try cache?.row(first.row, before: first.position)
        {
            // Another program had deleted the row, without an event: readers of the log still have it.
            (before, after) = (replaced, net.after())
        } else if net.isWhole {
            (before, after) = (net.before(), net.after())
        } else {
            after = try row(after: last, of: entity)
            before = net.before(after)
        }
        try cache?.keep(after, of: last.row, at: last.position)
        if before == nil, after == nil { return nil }
        return RowEvent(
            last, operation: before == nil ? .insert : after == nil ? .delete : .update,
            change: NetRow(whole: before, to: after, of: last.row))
    }

    /// Every event of one row in the batch by itself, with the whole row before it and after it.
    func whole(_ events: [RowEvent]) throws -> [RowEvent] {
        guard source.catalog.entity(id: events[0].row.entity) != nil else { return [] }
        // A row that was inserted and deleted again has none before.
        var row = try net(events)?.change.before()
        return events.map { event in
            let before = row
            row = event.change.after(before)
            return RowEvent(
                event, operation: before != nil && row != nil ? .update : event.operation,
                change: NetRow(whole: before, to: row, of: event.row))
        }
    }

    private func entity(of event: RowEvent) throws -> CatalogEntity {
        if let entity = source.catalog.entity(id: event.row.entity) { return entity }
        throw StorageError.corruptLog("event @\(event.position) is of entity \(event.row.entity), which isn't there")
    }

    /// What a conversion has filled in counts as having been there.
    private func settled(_ change: NetRow, of entity: CatalogEntity) -> NetRow {
        guard !change.isWhole, change.old.contains(where: { $0.value == .null }) else { return change }
        let converted = Set(entity.columns.filter { $0.origin != 0 && $0.required }.map(\.id))
        return converted.isEmpty
            ? change : change.forgettingOld { $0.value == .null && converted.contains($0.column) }
    }

    /// The row as it was after an event that isn't a delete.
    private func row(after event: RowEvent, of entity: CatalogEntity) throws -> [NetRow.Cell]? {
        let current = entity.isDropped ? nil : try currentRow(event.row, of: entity)
        let key = event.key
        guard isBehind, try reader.lastPosition(of: key, in: entity) != event.position else { return current }
        var later: NetRow?
        try reader.forEachVersion(of: key, in: entity) { batch, index in
            guard batch.header.first + Int64(index) > event.position else { return false }
            let change = settled(batch.withView { NetRow($0, event: index) }, of: entity)
            later = later.map { change.followed(by: $0) } ?? change
            return true
        }
        guard let later else { return current }
        return later.before(current)
    }

    private func currentRow(_ row: RowAddress, of entity: CatalogEntity) throws -> [NetRow.Cell]? {
        let keys = Set(entity.key.map(\.id))
        return try RowLookup(entity, source).row(row.values)?.filter { !keys.contains($0.column) }
    }
}

// MARK: Under names

extension RowResolver {
    /// A whole change by the names that columns have now.
    ///
    /// - Parameter wanted: Only these columns; all if nil.
    func named(_ event: RowEvent, only wanted: Set<String>? = nil) throws -> RowChange {
        let entity = try entity(of: event)
        let key = event.key
        func named(_ row: [NetRow.Cell]) throws -> [String: StorageValue] {
            var values: [String: StorageValue] = [:]
            for column in entity.live where wanted?.contains(column.name) ?? true {
                values[column.name] = try value(of: column, in: row, key: key, of: entity)
            }
            return values
        }
        return RowChange(
            table: entity.name, key: key, old: try event.change.before().map(named),
            new: try event.change.after().map(named), position: event.position)
    }

    /// A whole change by entities.
    func typed<E: RegisteredEntity>(_ event: RowEvent, as type: E.Type) throws -> EntityChange<E> {
        let entity = try entity(of: event)
        let key = event.key
        return EntityChange(
            old: try event.change.before().map { try read($0, key: key, of: entity) },
            new: try event.change.after().map { try read($0, key: key, of: entity) }, position: event.position)
    }

    private func read<E: RegisteredEntity>(
        _ row: [NetRow.Cell], key: [StorageValue], of entity: CatalogEntity
    ) throws -> E {
        let columns = E.Record.schemaColumns
        let placeholders = columns.indices.map { "?\($0 + 1) AS \(quoted(columns[$0].name))" }.joined(separator: ", ")
        let select = try source.statement("SELECT \(placeholders)")
        for (offset, declared) in columns.enumerated() {
            guard let column = entity.columns.last(where: { $0.name.utf8.elementsEqual(declared.name.utf8) }) else {
                throw StorageError(
                    .schemaMismatch, "\"\(entity.name)\" has no column \"\(declared.name)\".",
                    remedy: "Declare the entity with autoSchema when the store is opened.")
            }
            try select.writer.bind(value(of: column, in: row, key: key, of: entity), at: Int32(offset + 1))
        }
        defer { select.reset() }
        guard try select.step() else { throw StorageError.corruptLog("a row of \"\(entity.name)\" can't be read") }
        return try E.Record(reading: select.row).asEntity()
    }

    private func value(
        of column: CatalogColumn, in row: [NetRow.Cell], key: [StorageValue], of entity: CatalogEntity
    ) throws -> StorageValue {
        try upcasts.value(of: column, in: entity) { $0.keyValue(in: key) ?? row.value(of: $0.id)?.value }
    }
}

extension CatalogColumn {
    /// The column's value in a key; nil for a column outside of keys.
    func keyValue(in key: [StorageValue]) -> StorageValue? {
        guard keyOrdinal > 0 else { return nil }
        return keyOrdinal <= key.count ? key[keyOrdinal - 1] : .null
    }
}
