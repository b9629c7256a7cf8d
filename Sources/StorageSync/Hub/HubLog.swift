internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// A hub's log and tables as seen by one read.
///
/// Not `Sendable`: it lives as long as the read.
struct HubLog {
    let database: Connection
    let reader: LogReader
    let catalog: Catalog
    let head: Int64

    init(_ db: Database) throws {
        let connection = try db.connection
        database = connection
        reader = LogReader(connection)
        catalog = try Catalog.load(connection)
        head = try reader.head().position
    }

    func table(_ name: String) -> HubEntityTable? { catalog.entity(named: name).flatMap(HubEntityTable.init) }

    /// - Throws: ``HubError/outdatedCondition``; ``HubError/invalid(_:)`` for an entity that can't be served.
    func check(_ scope: HubScope) throws {
        if let obstacle = scope.obstacle(in: catalog) { throw HubError.invalid(obstacle) }
        for entity in scope.entities.compactMap(catalog.entity(named:)) {
            try scope.checkCondition(on: entity, reader, catalog)
        }
    }

    /// The source of the event at a position; nil for a write by the hub's own program.
    ///
    /// - Complexity: O(1), and fast for ascending positions: those of a segment are read together.
    func source(at position: Int64) throws -> HubWriteSource? {
        guard let outline = try reader.outline(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        return HubWriteSource(outline.commit(ofEvent: Int(position - outline.header.first)).metadata)
    }

    /// The row that the event at a position has changed.
    func row(at position: Int64) throws -> RowAddress {
        guard let batch = try reader.batch(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        return batch.withView { RowAddress($0, at: Int(position - batch.header.first)) }
    }

    /// The changes of documents in a range of the log, by position. There is one for each event, because events that a
    /// follower may not see are removed before changes are combined.
    ///
    /// - Parameters:
    ///   - position: The range begins after it.
    ///   - last: The latest end of the range.
    ///   - scope: The follower that receives the changes; nil for all followers. Rows that have changed after the range
    ///     are left to a later one, if that is possible for the follower.
    ///   - hasWritten: Whether the follower has ever written: it then receives those rows in their current state.
    ///   - limit: The maximum number of events to read.
    ///   - bytes: The maximum size of the changes, unless there is only one: the range ends before the event that
    ///     exceeds it.
    /// - Returns: The changes, and the end of the range, which is after the position unless that is the last one.
    func changes(
        behind position: Int64, through last: Int64, for scope: HubScope? = nil, hasWritten: Bool = true,
        limit: Int, bytes: Int
    ) throws -> (changes: [HubChange], end: Int64) {
        var part = try part(behind: position, through: last, of: scope?.entities, limit: limit, bytes: bytes)
        var isShortened = false
        while true {
            let (changes, cut) = try changes(of: part, for: scope, hasWritten: hasWritten, bytes: bytes)
            guard let cut else { return (changes.sorted { $0.position < $1.position }, part.end) }
            // Rows may be larger at the new end than at the previous one. Halving keeps the number of attempts low.
            part.end(before: isShortened ? min(cut, part.events.count / 2) : cut)
            isShortened = true
        }
    }

    /// Events of rows, in order, up to the end of a range of the log.
    private struct Part {
        var events: [(row: RowKey, event: StorageEvent)] = []
        var end: Int64

        /// Ends the range before the event at an index.
        mutating func end(before index: Int) {
            end = events[index].event.position - 1
            events.removeSubrange(index...)
        }
    }

    private struct RowKey: Hashable {
        let entity: String
        let key: ExactValue
    }

    /// - Parameter bytes: The maximum size of the events; at least one is read.
    private func part(
        behind position: Int64, through last: Int64, of entities: Set<String>?, limit: Int, bytes: Int
    ) throws -> Part {
        var part = Part(end: last)
        guard position < last else { return part }
        var query = LogQuery(tables: entities)
        query.positions = (position + 1)...last
        var (count, total) = (0, 0)
        try reader.forEachEvent(query, catalog: catalog) { batch, index, commit in
            guard count < limit, total < bytes else {
                part.end = batch.header.first + Int64(index) - 1
                return false
            }
            let event = batch.event(at: index, catalog: catalog, commit: commit)
            count += 1
            total += event.byteCount
            guard event.key.count == 1, let key = event.key.first?.value else { return true }
            part.events.append((RowKey(entity: event.table, key: ExactValue(key)), event))
            return true
        }
        return part
    }

    /// - Returns: The changes, those of a document in order, and the index of the event that exceeds the byte limit;
    ///   nil if none does.
    private func changes(
        of part: Part, for scope: HubScope?, hasWritten: Bool, bytes: Int
    ) throws -> (changes: [HubChange], cut: Int?) {
        var rows: [(row: RowKey, indices: [Int], events: [StorageEvent])] = []
        var rowIndices: [RowKey: Int] = [:]
        for (index, (row, event)) in part.events.enumerated() {
            if let rowIndex = rowIndices[row] {
                rows[rowIndex].indices.append(index)
                rows[rowIndex].events.append(event)
            } else {
                rowIndices[row] = rows.count
                rows.append((row, [index], [event]))
            }
        }
        var tables: [String: HubEntityTable?] = [:]
        var changes: [HubChange] = []
        var total = 0
        for (row, indices, events) in rows {
            let table = tables[row.entity] ?? table(row.entity)
            tables[row.entity] = .some(table)
            guard let table else { continue }
            let steps = try self.changes(
                of: row.key.value, in: table, events, end: part.end, for: scope, hasWritten: hasWritten)
            for (index, change) in zip(indices, steps) {
                total += change.byteCount
                guard total <= bytes || changes.isEmpty else { return (changes, index) }
                changes.append(change)
            }
        }
        return (changes, nil)
    }

    /// - Parameter events: The row's own events, in order; at least one.
    /// - Returns: One change for each event, or none.
    private func changes(
        of key: StorageValue, in table: HubEntityTable, _ events: [StorageEvent], end: Int64, for scope: HubScope?,
        hasWritten: Bool
    ) throws -> [HubChange] {
        guard let last = events.last, let id = table.id(of: key) else { return [] }
        var new: HubEntityTable.Row?
        let current = try table.row(key, in: database)
        if last.operation == .delete {
            new = nil
        } else if let current, current.position <= end {
            new = current.row
        } else if let scope, scope.canSkip(events, in: table) {
            // A follower that starts far behind then receives a document once or twice, and not with each range that
            // changed it. If it has written, the last change may be its own, and nothing after the range would report
            // others' changes in it.
            guard let current, hasWritten else { return [] }
            new = current.row
        } else {
            new = try reader.image(ofEventAt: last.position).image.map { table.row(key, $0) }
        }
        var changes: [HubChange] = []
        for event in events.reversed() {
            var old = new
            switch event.operation {
            case .insert: old = nil
            case .update: for field in event.old ?? [] { old?.set(field, in: table) }
            case .delete: old = table.row(before: event)
            }
            changes.append(
                HubChange(
                    table: table, id: id, position: event.position, old: old, new: new,
                    source: HubWriteSource(event.commit.metadata)))
            new = old
        }
        return changes.reversed()
    }
}

extension HubEntityTable.Row {
    fileprivate mutating func set(_ field: StorageEvent.Field, in table: HubEntityTable) {
        if let index = table.index(of: field.column) { values[index] = field.value }
    }
}

extension StorageEvent {
    /// The approximate memory use.
    fileprivate var byteCount: Int {
        [old, new].reduce(256) { total, fields in
            (fields ?? []).reduce(total) { $0 + $1.value.byteCount }
        }
    }
}
