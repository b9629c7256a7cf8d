internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog

/// Reads events into the rows of a history table: those of a search, or all.
///
/// The versions of a search are read backward, from the current rows: before an event, a row was what it is after it, except for
/// the event's old values. So only the events from the first of the search on are read.
///
/// A few versions in the middle of a long log are read from themselves: their other columns from the earlier events of their rows,
/// and their ends from the events after them.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class HistoryRowReader {
    let rows: HistoryRowBuffer
    private let entity: CatalogEntity
    private let log: LogReader
    private let budget: Int64
    /// The cost so far, in events of a sequential read.
    private(set) var spent: Int64 = 0
    /// Columns that may be younger than rows, which have the default until an event sets another value.
    private let defaulted: Set<UInt32>
    /// Rows as they were before the events that were read so far.
    private var states: [RowAddress: State] = [:]
    private var stateBytes = 0

    private struct State {
        /// nil if there was no row.
        let row: [NetRow.Cell]?
        /// The position of the earliest of the row's events that were read.
        let later: Int64
    }

    /// The cost of looking up a single event.
    static let costOfLookup: Int64 = 50
    fileprivate static let mostStateBytes = 32 << 20

    init(_ rows: HistoryRowBuffer, of entity: CatalogEntity, _ log: LogReader, budget: Int64 = .max) {
        self.rows = rows
        self.entity = entity
        self.log = log
        self.budget = budget
        defaulted = Set(entity.live.filter { $0.fallback != .null }.map(\.id))
    }

    private var isSpent: Bool { spent > budget }

    /// Adds the changes of a search.
    ///
    /// - Returns: Whether these are all: false if the store has no trace of the requested rows.
    func addChanges(_ search: HistorySearch, _ catalog: Catalog) throws -> Bool {
        if let keys = search.keys {
            return try forEachEvent(ofRows: keys, search.query) { [self] event, isWanted in
                if isWanted { try rows.add(event.change(of: entity)) }
                return true
            }
        }
        spent += Int64(search.query.positions.count) / 4
        try forEachEvent(of: search.query, catalog: catalog) { [self] in try rows.add($0.change(of: entity)) }
        return true
    }

    /// Adds the versions of a search.
    ///
    /// - Parameters:
    ///   - head: The last position.
    ///   - source: The store's tables, in the state after it.
    ///   - needsUntil: Whether the ends of versions are needed.
    /// - Returns: Whether these are all: false if reading them costs more than the budget, or if the store's tables differ from
    ///   the log.
    func addVersions(
        _ search: HistorySearch, _ source: ReadSource, through head: Int64, needsUntil: Bool
    ) throws -> Bool {
        let select = try RowLookup(entity, source)
        func step(_ event: RowEvent, _ isWanted: Bool) throws -> Bool {
            try addVersion(before: event, isWanted: isWanted, select)
        }
        if let keys = search.keys { return try forEachEvent(ofRows: keys, search.query, step) }
        spent += Int64(search.query.positions.count) / 4
        if let operations = search.query.operations, !operations.contains(.update),
            !needsUntil || !operations.contains(.insert)
        {
            // Inserts and deletes have the whole row.
            try forEachEvent(of: search.query, catalog: source.catalog) { [self] in
                try rows.add($0.version(wholeRow(of: $0)))
            }
            return !isSpent
        }
        let matches = try matches(of: search.query, catalog: source.catalog)
        guard !isSpent else { return false }
        guard let first = matches.first else { return true }
        // Beyond that, reading from the current rows costs less.
        let lookups = (head - first) / 4 / Self.costOfLookup
        if matches.events.count == matches.count, Int64(matches.count) <= lookups,
            try addVersions(of: matches.events, through: head, needsUntil: needsUntil, lookups: lookups)
        {
            return true
        }
        return try forEachEvent(of: matches, search.query, through: head, step)
    }
}

// MARK: Events

extension HistoryRowReader {
    private func forEachEvent(of query: LogQuery, catalog: Catalog, _ body: (RowEvent) throws -> Void) throws {
        try log.forEachEvent(query, catalog: catalog) { batch, index, commit in
            try batch.withView { view in
                // A dropped entity may have had the same name.
                guard view.shape(of: index).entity == entity.id else { return true }
                spent += 1
                try body(RowEvent(view, at: index, position: batch.header.first + Int64(index), commit: commit))
                return !isSpent
            }
        }
    }

    /// Calls `body` with the events of some rows, those of each last first, down to the first position of the query.
    ///
    /// - Parameter body: Gets the event, and whether it matches the query. Returns whether to continue.
    /// - Returns: Whether all were read. False for a row without a trace, which may have been deleted without the log.
    private func forEachEvent(
        ofRows keys: [[StorageValue]], _ query: LogQuery, _ body: (RowEvent, Bool) throws -> Bool
    ) throws -> Bool {
        var isDone = true
        var hasTrace = false
        for key in keys where isDone {
            spent += 1
            try log.forEachVersion(of: key, in: entity) { batch, index in
                hasTrace = true
                spent += Self.costOfLookup
                let (position, commit) = (batch.header.first + Int64(index), batch.commit(ofEvent: index))
                let event = batch.withView { RowEvent($0, at: index, position: position, commit: commit) }
                isDone = try !isSpent && body(event, query.wants(event))
                return isDone && position > query.positions.lowerBound
            }
        }
        return isDone && hasTrace
    }

    /// The events that match a query.
    private struct Matches {
        private(set) var count = 0
        /// The first ones, in their order, as long as they are few and small.
        private(set) var events: [RowEvent] = []
        private var bytes = 0
        /// The position of the first one.
        private(set) var first: Int64?
        private(set) var rows: Set<RowAddress> = []

        mutating func add(_ row: RowAddress, at position: Int64, _ event: () -> RowEvent) {
            count += 1
            first = first ?? position
            rows.insert(row)
            guard count <= 100, bytes <= HistoryRowReader.mostStateBytes else { return }
            let event = event()
            bytes += (event.change.old + event.change.new).reduce(0) { $0 + $1.value.value.byteCount }
            events.append(event)
        }
    }

    private func matches(of query: LogQuery, catalog: Catalog) throws -> Matches {
        var matches = Matches()
        try log.forEachEvent(query, catalog: catalog) { batch, index, commit in
            batch.withView { view in
                guard view.shape(of: index).entity == entity.id else { return true }
                spent += 1
                let position = batch.header.first + Int64(index)
                matches.add(RowAddress(view, at: index), at: position) {
                    RowEvent(view, at: index, position: position, commit: commit)
                }
                return !isSpent
            }
        }
        return matches
    }

    /// Calls `body` with the events of the rows that have a match, last first, down to the first match.
    private func forEachEvent(
        of matches: Matches, _ query: LogQuery, through head: Int64, _ body: (RowEvent, Bool) throws -> Bool
    ) throws -> Bool {
        guard let first = matches.first else { return true }
        spent += (head - first) / 4
        var isDone = !isSpent
        guard isDone else { return false }
        try log.forEachBatch(in: first...head, descending: true, where: { $0.entities.contains(entity.id) }) { batch in
            try batch.withView { view in
                for index in stride(from: view.count - 1, through: 0, by: -1) where isDone {
                    let position = batch.header.first + Int64(index)
                    guard view.shape(of: index).entity == entity.id, position >= first, position <= head,
                        matches.rows.contains(RowAddress(view, at: index))
                    else { continue }
                    spent += 1
                    let event = RowEvent(view, at: index, position: position, commit: batch.commit(ofEvent: index))
                    isDone = try !isSpent && body(event, query.wants(event))
                }
            }
            return isDone
        }
        return isDone
    }
}

extension LogQuery {
    /// Whether an event of the right entity matches the query.
    fileprivate func wants(_ event: RowEvent) -> Bool {
        positions.contains(event.position) && wants(event.commit) && operations?.contains(event.operation) ?? true
    }
}

// MARK: Versions

extension HistoryRowReader {
    /// Adds the versions that events made, all or none, without reading the log from there to its end.
    ///
    /// - Parameter lookups: The maximum number of earlier events to look up.
    /// - Returns: Whether they were added: false if that takes more look-ups, or if the log has no trace of a row.
    func addVersions(
        of events: [RowEvent], through head: Int64, needsUntil: Bool, lookups: Int64
    ) throws -> Bool {
        var lookups = lookups
        var versions: [[StorageValue]] = []
        var bytes = 0
        for event in events {
            guard let values = try row(after: event, &lookups) else { return false }
            bytes += values.reduce(0) { $0 + $1.byteCount }
            guard bytes <= Self.mostStateBytes else { return false }
            versions.append(values)
        }
        guard let ends = needsUntil ? try ends(of: events, through: head) : [:] else { return false }
        for (event, values) in zip(events, versions) {
            try rows.add(event.version(values, until: ends[event.position]))
        }
        return true
    }

    /// The row as an event left it: each column has the value that the last event with a value for it has set.
    private func row(after event: RowEvent, _ lookups: inout Int64) throws -> [StorageValue]? {
        guard event.operation == .update else { return wholeRow(of: event) }
        let columns = entity.live.filter { $0.keyOrdinal == 0 }
        var cells = event.change.new
        func isWhole() -> Bool { columns.allSatisfy { cells.value(of: $0.id) != nil } }
        if isWhole() { return event.row(of: entity, cells) { $0.fallback } }
        var isFound = false
        var left = lookups
        try log.forEachVersion(from: event.previous) { batch, index in
            left -= 1
            spent += Self.costOfLookup
            let earlier = batch.withView {
                RowEvent($0, at: index, position: batch.header.first + Int64(index), commit: event.commit)
            }
            guard left >= 0, earlier.operation != .delete, earlier.row == event.row else { return false }
            let others = earlier.change.new.filter { cells.value(of: $0.column) == nil }
            cells = (cells + others).sorted { $0.column < $1.column }
            isFound = earlier.operation == .insert || isWhole()
            return !isFound
        }
        lookups = left
        return isFound ? event.row(of: entity, cells) { $0.fallback } : nil
    }

    /// The positions of the events that ended versions, by the positions of those that made them.
    ///
    /// - Returns: nil if the search for them takes too long, or if a version has no end though it isn't its row's last.
    private func ends(of events: [RowEvent], through head: Int64) throws -> [Int64: Int64]? {
        var open: Set<Int64> = []
        for event in events where event.operation != .delete {
            guard let last = try log.lastPosition(of: event.key, in: entity) else { return nil }
            if last != event.position { open.insert(event.position) }
        }
        var ends: [Int64: Int64] = [:]
        guard let first = open.min(), first < head else { return open.isEmpty ? ends : nil }
        try log.forEachBatch(in: first + 1...head, where: { $0.entities.contains(entity.id) }) { batch in
            spent += Int64(batch.positions.count) / 4
            batch.withView { view in
                for index in 0..<view.count {
                    let previous = view.events[index].previous
                    if open.remove(previous) != nil { ends[previous] = batch.header.first + Int64(index) }
                }
            }
            return !open.isEmpty && !isSpent
        }
        return open.isEmpty ? ends : nil
    }

    /// Adds the version that an event made, if it is wanted, and steps back to the row's state before it.
    ///
    /// - Returns: Whether the row was as the event says, so far.
    private func addVersion(before event: RowEvent, isWanted: Bool, _ select: RowLookup) throws -> Bool {
        let state = states[event.row]
        let known = try state.map(\.row) ?? select.row(event.row.values)
        // NULL may be the old value of a column that didn't exist yet, which has its default instead.
        guard !defaulted.contains(where: { event.change.old.value(of: $0) == .null }) else { return false }
        let values: [StorageValue]
        if event.operation == .delete {
            guard known == nil else { return false }
            values = wholeRow(of: event)
        } else {
            guard let known,
                event.change.new.allSatisfy({ cell in known.value(of: cell.column).map { $0 == cell.value } ?? true })
            else {
                return false
            }
            values = event.row(of: entity, known) { $0.fallback }
        }
        if isWanted { try rows.add(event.version(values, until: state?.later)) }
        stateBytes += state == nil ? 200 + values.reduce(0) { $0 + $1.byteCount } : 0
        states[event.row] = State(row: event.change.before(known), later: event.position)
        return stateBytes <= Self.mostStateBytes
    }

    /// The row that an event inserted or deleted.
    private func wholeRow(of event: RowEvent) -> [StorageValue] {
        event.operation == .insert
            ? event.row(of: entity, event.change.new) { $0.fallback }
            : event.row(of: entity, event.change.old) { _ in .null }
    }

    /// Adds the versions of all rows, from a table to which the events are applied.
    func addAllVersions(through head: Int64) throws {
        let scratch = try ScratchTables()
        try scratch.inTransaction { try addAllVersions(through: head, scratch) }
    }

    private func addAllVersions(through head: Int64, _ scratch: ScratchTables) throws {
        let target = try scratch.target(for: entity)
        let fold = Fold(scratch.database, targets: [target], checks: false)
        let columns = entity.live.map(ScratchTables.name).joined(separator: ", ")
        let keys = entity.key.map { "\(ScratchTables.name(of: $0)) IS ?" }.joined(separator: " AND ")
        let select = try PreparedStatement(
            scratch.database, "SELECT \(columns) FROM \(ScratchTables.table(of: entity)) WHERE \(keys)")
        try log.forEachBatch(in: 1...head, where: { $0.entities.contains(entity.id) }) { batch in
            var commits = batch.commits[...]
            try batch.withView { view in
                try fold.apply(
                    view, first: batch.header.first, replaced: { try rows.end($0.earlier, at: $0.position) },
                    after: { index in
                        while let part = commits.first, part.events.upperBound <= index { commits.removeFirst() }
                        guard let commit = commits.first?.info, view.shape(of: index).entity == entity.id else {
                            return
                        }
                        let event = RowEvent(
                            view, at: index, position: batch.header.first + Int64(index), commit: commit)
                        if event.previous > 0 { try rows.end(event.previous, at: event.position) }
                        try rows.add(
                            event.version(event.operation == .delete ? wholeRow(of: event) : read(event, select)))
                    })
            }
            return true
        }
    }

    private func read(_ event: RowEvent, _ select: PreparedStatement) throws -> [StorageValue] {
        try select.bind(event.key)
        defer { select.reset() }
        guard try select.step() else { throw StorageError.corruptLog("event @\(event.position) leaves no row") }
        return entity.live.indices.map { select.row.value(at: Int32($0)) }
    }
}

// MARK: Rows

extension RowEvent {
    private var time: StorageValue { .text(HistoryTableInstaller.time(commit.time)) }
    private var actor: StorageValue { commit.metadata.actor.map(StorageValue.text) ?? .null }
    private var reason: StorageValue { commit.metadata.reason.map(StorageValue.text) ?? .null }

    /// The event's row: its key, and values for its columns.
    ///
    /// - Parameter other: The values of columns without a cell.
    fileprivate func row(
        of entity: CatalogEntity, _ cells: [NetRow.Cell], others other: (CatalogColumn) -> StorageValue
    ) -> [StorageValue] {
        let key = key
        return entity.live.map { column in
            column.keyOrdinal > 0 && column.keyOrdinal <= key.count
                ? key[column.keyOrdinal - 1] : cells.value(of: column.id)?.value ?? other(column)
        }
    }

    /// The event as a row of `history_TABLE`: a delete ends at its own position.
    fileprivate func version(_ values: [StorageValue], until later: Int64? = nil) -> [StorageValue] {
        let until = operation == .delete ? position : later
        return [
            .integer(position), until.map(StorageValue.integer) ?? .null, .integer(commit.number), time, actor,
            reason, .text(operation.rawValue),
        ] + values
    }

    /// The event as a row of `changes_TABLE`.
    fileprivate func change(of entity: CatalogEntity) -> [StorageValue] {
        let others = entity.live.filter { $0.keyOrdinal == 0 }
        let values = others.map { (old: change.old.value(of: $0.id), new: change.new.value(of: $0.id)) }
        let changed = zip(others, values).filter { $1.old != nil || $1.new != nil }.map { $0.0.name }
        return [
            .integer(position), .integer(commit.number), time, actor, reason, .text(operation.rawValue),
            .text(changed.joined(separator: ",")),
        ] + key + values.flatMap { [$0.old?.value ?? .null, $0.new?.value ?? .null] }
    }
}
