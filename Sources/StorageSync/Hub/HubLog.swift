internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// A hub's log and tables as one read sees them.
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

    func table(_ name: String) -> HubTable? { catalog.entity(named: name).flatMap(HubTable.init) }

    /// - Throws: ``HubError/outdatedCondition``.
    func checkConditions(of scope: HubScope) throws {
        for entity in scope.entities.compactMap(catalog.entity(named:)) {
            try scope.checkCondition(on: entity, reader, catalog)
        }
    }

    /// Who made the event at a position; nil for a write of the hub's own program.
    /// - Complexity: O(1), and fast for positions in their order: those of a segment are read together.
    func source(at position: Int64) throws -> HubSource? {
        guard let outline = try reader.outline(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        return HubSource(outline.commit(ofEvent: Int(position - outline.header.first)).metadata)
    }

    /// The changes of documents in a part of the log, by position: one for each event, because what a follower may not see of them is
    /// left out before they are composed.
    ///
    /// - Parameters:
    ///   - position: Behind it the part begins.
    ///   - last: Where it ends at the latest.
    ///   - scope: The follower that they are for; nil for all of them. Rows that have changed behind the part are left to a later one, where
    ///     it can do without.
    ///   - hasWritten: Whether it has ever written: then it gets those as they are now.
    ///   - limit: The most events that are read.
    ///   - bytes: What the changes have at the most, but where there is one only: the part ends before the event that would make them more.
    /// - Returns: The changes, and up to where they reach: beyond the position, where that isn't the last one.
    func changes(
        behind position: Int64, through last: Int64, for scope: HubScope? = nil, hasWritten: Bool = true,
        limit: Int, bytes: Int
    ) throws -> (changes: [HubChange], end: Int64) {
        var part = try part(behind: position, through: last, of: scope?.entities, limit: limit, bytes: bytes)
        var isShortened = false
        while true {
            let (changes, cut) = try changes(of: part, for: scope, hasWritten: hasWritten, bytes: bytes)
            guard let cut else { return (changes.sorted { $0.position < $1.position }, part.end) }
            // Rows may be larger where the part ends now than where it ended before. Half of it each time needs few more looks.
            part.end(before: isShortened ? min(cut, part.events.count / 2) : cut)
            isShortened = true
        }
    }

    /// Events of rows, in order, up to where a part of the log ends.
    private struct Part {
        var events: [(row: RowKey, event: StorageEvent)] = []
        var end: Int64

        /// What stands at an index begins the next part.
        mutating func end(before index: Int) {
            end = events[index].event.position - 1
            events.removeSubrange(index...)
        }
    }

    private struct RowKey: Hashable {
        let entity: String
        let key: ExactValue
    }

    /// - Parameter bytes: Of what the events say; one is read in any case.
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

    /// - Returns: The changes, those of a document in order, and the index of the event that makes them too many bytes; nil where none does.
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
        var tables: [String: HubTable?] = [:]
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

    /// - Parameter events: The row's own, in order; at least one.
    /// - Returns: One for each of them, or none.
    private func changes(
        of key: StorageValue, in table: HubTable, _ events: [StorageEvent], end: Int64, for scope: HubScope?,
        hasWritten: Bool
    ) throws -> [HubChange] {
        guard let last = events.last, let id = table.id(of: key) else { return [] }
        var new: HubTable.Row?
        let current = try table.row(key, in: database)
        if last.operation == .delete {
            new = nil
        } else if let current, current.position <= end {
            new = current.row
        } else if let scope, scope.canSkip(events, in: table) {
            // One that begins far behind gets a document once or twice then, and not with each part in which it was changed. Where it has
            // written, the last change may be its own: then nothing behind the part would tell it of those that others have made in it.
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
                    source: HubSource(event.commit.metadata)))
            new = old
        }
        return changes.reversed()
    }
}

extension HubTable.Row {
    fileprivate mutating func set(_ field: StorageEvent.Field, in table: HubTable) {
        if let index = table.index(of: field.column) { values[index] = field.value }
    }
}

extension StorageEvent {
    /// About how much memory it takes.
    fileprivate var byteCount: Int {
        [old, new].reduce(256) { total, fields in
            (fields ?? []).reduce(total) { $0 + $1.value.byteCount }
        }
    }
}
