internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageLog

/// Finds whole rows before and after a batch. Events hold of an update only what changed.
///
/// Of an insert or a delete the event itself holds the row. Of an update the row is taken from its table as it is now,
/// and what happened since is undone. While much of the log is read in one go, the rows that were found are kept aside:
/// each is good as long as the next event of the row points back to it, so nothing has to be kept in step.
///
/// Isolation: used on its connection's thread only.
final class RowResolver {
    typealias Image = RowTransition.Image

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

    /// - Parameter events: All events of one row in the batch.
    /// - Returns: What they make of the row together; nil where it was inserted and deleted again.
    func netTransition(_ events: [RowEvent]) throws -> RowTransition? {
        let first = events[0]
        let last = events[events.count - 1]
        guard let entity = source.catalog.entity(id: first.row.entity) else {
            throw StorageError.corruptLog(
                "event @\(first.position) is of entity \(first.row.entity), which isn't there")
        }
        var before: Image?
        var after: Image?
        if first.operation == .insert {
            after = apply(events, to: nil)
        } else if let known = try cache?.image(of: first.row, at: first.previous) {
            before = known
            after = apply(events, to: known)
        } else {
            after = last.operation == .delete ? nil : try row(after: last, of: entity)
            before = after
            for event in events.reversed() { revert(event, in: &before, of: entity) }
        }
        try cache?.keep(after, of: last.row, at: last.position)
        if before == nil, after == nil { return nil }
        return RowTransition(
            position: last.position, commit: last.commit,
            operation: before == nil ? .insert : after == nil ? .delete : .update, entity: entity, key: first.key,
            before: before, after: after)
    }

    /// Every event of one row in the batch by itself, with the whole row before it and after it.
    func transitions(_ events: [RowEvent]) throws -> [RowTransition] {
        guard let entity = source.catalog.entity(id: events[0].row.entity) else { return [] }
        // A row that was inserted and deleted again has none before.
        var image = try netTransition(events)?.before
        return events.map { event in
            let before = image
            image = apply([event], to: before)
            return RowTransition(
                position: event.position, commit: event.commit, operation: event.operation, entity: entity,
                key: event.key, before: before, after: image)
        }
    }

    /// A row after events, of which it is known before them.
    private func apply(_ events: [RowEvent], to image: Image?) -> Image? {
        var image = image
        for event in events {
            switch event.operation {
            case .insert: image = Dictionary(zip(event.columns, event.new)) { $1 }
            case .delete: image = nil
            case .update: for (column, value) in zip(event.columns, event.new) { image?[column] = value }
            }
        }
        return image
    }

    /// Makes the row after an event that before it.
    private func revert(_ event: RowEvent, in image: inout Image?, of entity: CatalogEntity) {
        switch event.operation {
        case .insert: image = nil
        case .delete: image = Dictionary(zip(event.columns, event.old)) { $1 }
        case .update:
            for (column, value) in zip(event.columns, event.old) {
                // What a conversion has filled in counts as having been there.
                if value == .null, entity.columns.contains(where: { $0.id == column && $0.origin != 0 && $0.required })
                {
                    continue
                }
                image?[column] = value
            }
        }
    }

    /// The row as it was after an event that isn't a delete.
    private func row(after event: RowEvent, of entity: CatalogEntity) throws -> Image? {
        var image: Image?
        if !entity.isDropped { image = try currentRow(event.key, of: entity) }
        guard isBehind, try reader.lastPosition(of: event.key, in: entity) != event.position else { return image }
        try reader.forEachVersion(of: event.key, in: entity) { batch, index in
            let position = batch.header.first + Int64(index)
            guard position > event.position else { return false }
            let later = batch.withView { RowEvent($0, at: index, position: position, commit: event.commit) }
            revert(later, in: &image, of: entity)
            return true
        }
        return image
    }

    private func currentRow(_ key: [StorageValue], of entity: CatalogEntity) throws -> Image? {
        guard let row = try RowLookup(entity, source).row(key.map { ExactValue($0) }) else { return nil }
        var image = row.mapValues(\.value)
        for column in entity.key { image[column.id] = nil }
        return image
    }
}

// MARK: Reading images

extension RowResolver {
    /// The row by the names that its columns have now.
    ///
    /// - Parameter wanted: Only these columns; all where nil.
    func named(
        _ image: Image, of change: RowTransition, only wanted: Set<String>? = nil
    ) throws -> [String: StorageValue] {
        var row: [String: StorageValue] = [:]
        for column in change.entity.live where wanted?.contains(column.name) ?? true {
            row[column.name] = try value(of: column, in: image, of: change)
        }
        return row
    }

    /// The row as an entity.
    func entity<E: RegisteredEntity>(_ type: E.Type, from image: Image, of change: RowTransition) throws -> E {
        let entity = change.entity
        let columns = E.Record.schemaColumns
        let placeholders = columns.indices.map { "?\($0 + 1) AS \(quoted(columns[$0].name))" }.joined(separator: ", ")
        let select = try source.statement("SELECT \(placeholders)")
        for (offset, declared) in columns.enumerated() {
            guard let column = entity.columns.last(where: { $0.name.utf8.elementsEqual(declared.name.utf8) }) else {
                throw StorageError(
                    .schemaMismatch, "\"\(entity.name)\" has no column \"\(declared.name)\".",
                    remedy: "Declare the entity with autoSchema when the store is opened.")
            }
            try select.writer.bind(value(of: column, in: image, of: change), at: Int32(offset + 1))
        }
        defer { select.reset() }
        guard try select.step() else { throw StorageError.corruptLog("a row of \"\(entity.name)\" can't be read") }
        return try E.Record(reading: select.row).asEntity()
    }

    private func value(
        of column: CatalogColumn, in image: Image, of change: RowTransition
    ) throws -> StorageValue {
        try upcasts.value(of: column, in: change.entity) { change.keyValue(of: $0) ?? image[$0.id] }
    }
}
