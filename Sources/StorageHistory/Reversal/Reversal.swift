internal import CSQLite
internal import StorageCore
package import StorageLog

/// Reverts events by changes of their own, last first, inside the current commit.
///
/// Each column is treated separately: if it still holds the event's new value, it gets the old one; if it holds another value,
/// it was changed since, and that is a conflict. Of several events of a row, the last one counts for this: a value
/// that only equals an intermediate state is another change. A value that the events together leave unchanged isn't reverted,
/// even if it was changed since. The schema stays as it is.
package final class Reversal {
    private let writer: LogWriter
    private let policy: ConflictPolicy
    private var outcome = RevertOutcome()
    private var rows: [UInt32: RowEditor] = [:]
    /// Cells (column 0 for a whole row) in which a later event of the same run couldn't be reverted.
    private var blocked: Set<BlockedCell> = []
    /// Rows whose revert would leave a reference to a row that isn't there.
    private var leftOut: Set<BlockedCell> = []
    /// Cells that another change had already set to the old value of an event of the run, with that event's new value. Their
    /// current value isn't the result of earlier events, so those conflict.
    private var settled: [BlockedCell: ExactValue] = [:]
    /// Cells that the events together leave unchanged, and others have changed since, or set to their earlier value; and the rows
    /// of ``wholeRows``.
    private var untouched: Set<BlockedCell> = []
    /// The conflicts of rows that can only be reverted as a whole, and stay as they are: the events inserted and updated them and
    /// they have changed since, or other rows block an earlier one of their events.
    private var wholeRows = RevertOutcome()
    /// Conflicts of rows with a blocked event, of which later events are reverted already.
    private var halfReverted: [(row: RowAddress, conflict: RevertConflict)] = []
    /// The rows of several events.
    private var repeated = DuplicateRows()
    /// Events that other rows block, perhaps only until the rest is reverted, and earlier events of their rows: those of each row
    /// together, last first.
    private var waiting: [[NetRow]] = []
    private var waitingRows: [RowAddress: Int] = [:]
    /// Whether rows that refer to others may be deleted or changed with them: only to overwrite, and after all that is possible
    /// otherwise.
    private var deletesOthers = false
    /// Whether no further progress is possible.
    private var isLast = false
    /// Whether foreign keys act on other rows.
    private var hasActions = true
    /// The number of events visited.
    private var events = 0
    /// The number of captured events before those of the run.
    private var start = 0
    private let skipsAnnotations: Bool
    private var first: Int64 = 1
    /// The entities as they were before the first event; loaded if a converted column needs them.
    private var earlier: Catalog?

    private struct BlockedCell: Hashable {
        let row: RowAddress
        let column: UInt32
    }

    /// - Parameter skipsAnnotations: Whether to leave tags, notes and operations unchanged.
    package init(_ writer: LogWriter, policy: ConflictPolicy, skipsAnnotations: Bool = false) {
        self.writer = writer
        self.policy = policy
        self.skipsAnnotations = skipsAnnotations
    }

    /// - Throws: `conflict` if there are conflicts and the policy is to abort; `not-found` if the positions hold no change of a
    ///   row.
    package func run(_ positions: ClosedRange<Int64>) throws -> RevertOutcome {
        try writer.statement("PRAGMA defer_foreign_keys = ON").execute()
        first = positions.lowerBound
        start = writer.pendingEvents
        try findUntouched(positions)
        let conflicts = try writer.keepingReferences(policy) { rows in
            leftOut = Set(rows.map { BlockedCell(row: $0, column: 0) })
            try revertWhole(positions)
        }
        for conflict in conflicts { outcome.add(conflict) }
        if events == 0 {
            throw StorageError(
                .notFound, "There is no row change to revert.",
                remedy: "Schema changes aren't reverted: name a commit that inserts, updates or deletes rows.")
        }
        if policy == .abort, !outcome.conflicts.isEmpty { throw StorageError.refused(outcome.conflicts) }
        return outcome
    }

    private func revertWhole(_ positions: ClosedRange<Int64>) throws {
        try writer.statement("SAVEPOINT storage_reversal_whole").execute()
        try restart()
        if try !revert(positions, continues: false) { try revertAsFarAsPossible(positions) }
        try writer.statement("RELEASE storage_reversal_whole").execute()
    }

    /// Reverts what isn't blocked, and reports the rest as conflicts: without the actions of foreign keys if the references are valid
    /// then, so that they change no rows because of an unrelated conflict.
    private func revertAsFarAsPossible(_ positions: ClosedRange<Int64>) throws {
        let (untouched, wholeRows) = (untouched, wholeRows)
        repeat {
            if try revertInOrder(positions) { return }
        } while try leaveHalfReverted(positions)
        // What blocked a row then may be deleted or changed by an action now.
        (self.untouched, self.wholeRows) = (untouched, wholeRows)
        repeat {
            try restart()
            _ = try revert(positions, continues: true)
        } while try leaveHalfReverted(positions)
    }

    private func restart() throws {
        try writer.statement("ROLLBACK TO storage_reversal_whole").execute()
        (outcome, events, deletesOthers, isLast) = (wholeRows, 0, false, false)
        (blocked, settled, waiting, waitingRows, halfReverted) = (leftOut, [:], [], [:], [])
    }

    /// Decides that rows stay as they are whose revert ended between two events: that would leave a state that was never committed.
    /// What the events together leave unchanged has nothing to revert, and so is no conflict.
    ///
    /// - Returns: Whether there are such rows, so that the rest must be reverted without them.
    private func leaveHalfReverted(_ positions: ClosedRange<Int64>) throws -> Bool {
        guard !halfReverted.isEmpty else { return false }
        let unchanged = try unchangedCells(of: Set(halfReverted.map(\.row)), positions)
        var left: [RowAddress] = []
        var isLeft = false
        for (row, conflict) in halfReverted {
            let cells = unchanged[row, default: []].subtracting(untouched)
            if !cells.isEmpty {
                untouched.formUnion(cells)
            } else if policy != .abort {
                untouched.insert(BlockedCell(row: row, column: 0))
                wholeRows.add(conflict)
                left.append(row)
            } else {
                // To abort, the first attempt's conflicts suffice.
                continue
            }
            isLeft = true
        }
        try leaveHolders(of: left)
        return isLeft
    }

    /// Decides that rows stay as they are too if they have got unique values of such rows by now.
    private func leaveHolders(of rows: [RowAddress]) throws {
        guard !rows.isEmpty else { return }
        writer.database.setForeignKeysEnabled(false)
        defer { writer.database.setForeignKeysEnabled(true) }
        var values = UniqueValues(writer, changedFrom: start)
        var left = rows
        var next = 0
        while next < left.count {
            let row = left[next]
            next += 1
            guard let access = try access(to: row.entity) else { continue }
            for holder in try values.putBack(row, access)
            where untouched.insert(BlockedCell(row: holder.change.row, column: 0)).inserted {
                wholeRows.add(
                    conflict(of: holder.change, because: holder.reason, in: nil, expected: nil, found: nil))
                left.append(holder.change.row)
            }
        }
    }

    /// The cells of rows that the events together leave unchanged.
    private func unchangedCells(
        of rows: Set<RowAddress>, _ positions: ClosedRange<Int64>
    ) throws -> [RowAddress: Set<BlockedCell>] {
        var changes: [RowAddress: NetRow] = [:]
        try forEachEvent(in: positions) { view, index in
            let row = RowAddress(view, at: index)
            guard rows.contains(row) else { return }
            let change = NetRow(view, event: index)
            changes[row] = changes[row]?.followed(by: change) ?? change
        }
        return try changes.compactMapValues { net in
            guard net.existed == net.exists, let access = try access(to: net.row.entity) else { return nil }
            let columns = comparedColumns(of: net, access)
            let same = columns.filter { net.old.value(of: $0.id) == net.new.value(of: $0.id) }
            if same.count == columns.count { return [BlockedCell(row: net.row, column: 0)] }
            return net.isWhole ? nil : Set(same.map { BlockedCell(row: net.row, column: $0.id) })
        }
    }

    /// The columns whose values a change of a row concerns, none of one that comes and goes.
    private func comparedColumns(of net: NetRow, _ access: RowEditor) -> [CatalogColumn] {
        access.columns.filter {
            $0.keyOrdinal == 0 && net.new.value(of: $0.id) != nil && (!net.existed || net.old.value(of: $0.id) != nil)
                && !$0.isStamp
        }
    }

    /// Reverts the events with foreign keys enforced, and retries those that they block.
    ///
    /// - Parameter continues: Whether to continue if events block each other.
    /// - Returns: Whether it was completed.
    private func revert(_ positions: ClosedRange<Int64>, continues: Bool) throws -> Bool {
        try forEachEvent(in: positions, descending: true) { view, index in
            events += 1
            try revert(NetRow(view, event: index))
        }
        var isSlow = false
        while !waiting.isEmpty {
            // The last row first: it mostly waits for one that came after it. In the other order each round would revert only one
            // row of a chain.
            let reversed = Array(waiting.reversed())
            let round = try isSlow || deletesOthers ? writer.referringFirst(reversed, by: \.[0].row) : reversed
            (waiting, waitingRows) = ([], [:])
            for event in round.joined() { try revert(event) }
            isSlow = waiting.count > round.count / 2
            guard waiting.joined().count == round.joined().count else { continue }
            if !continues { return false }
            if policy == .overwrite, hasActions, !deletesOthers { deletesOthers = true } else { isLast = true }
        }
        return true
    }

    /// Reverts the events in their order, without the actions of foreign keys, which are among the events. So a key can be deleted
    /// and inserted again, or be respelled, under the rows that refer to it.
    ///
    /// - Returns: Whether no row is half reverted, and every reference is valid.
    private func revertInOrder(_ positions: ClosedRange<Int64>) throws -> Bool {
        try restart()
        hasActions = false
        writer.database.setForeignKeysEnabled(false)
        defer {
            writer.database.setForeignKeysEnabled(true)
            hasActions = true
        }
        _ = try revert(positions, continues: true)
        let tables = rows.keys.compactMap { writer.catalog.entity(id: $0)?.stored }
        return try halfReverted.isEmpty && writer.referencesAreSound(around: tables)
    }

    private func forEachEvent(
        in positions: ClosedRange<Int64>, descending: Bool = false, _ body: (EventView, Int) throws -> Void
    ) throws {
        try LogReader(writer.database).forEachBatch(in: positions, descending: descending) { batch in
            try batch.withView { view in
                for offset in 0..<view.count {
                    let index = descending ? view.count - 1 - offset : offset
                    guard positions.contains(batch.header.first + Int64(index)) else { continue }
                    let entity = view.shape(of: index).entity
                    if entity == CatalogEntity.catalog.id || skipsAnnotations && CatalogEntity.isReserved(entity) {
                        continue
                    }
                    try body(view, index)
                }
            }
            return true
        }
    }

    /// Finds the cells that the events together leave unchanged, which is possible only in rows with several events.
    private func findUntouched(_ positions: ClosedRange<Int64>) throws {
        try forEachEvent(in: positions) { view, index in repeated.add(RowAddress(view, at: index)) }
        guard repeated.finish() > 0 else { return }
        let entities = writer.catalog.entities.filter { !$0.isDropped }
        let tableIndices = Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1.id, $0) })
        // Many changes are moved to a temporary database, so that a long range needs little more memory than a short one.
        let changes = try NetChangeStore(
            entities.compactMap { DifferenceTable(from: $0, to: $0, matchesNames: false) })
        try forEachEvent(in: positions) { view, index in
            let row = RowAddress(view, at: index)
            guard repeated.contains(row), let tableIndex = tableIndices[row.entity] else { return }
            try changes.add(NetRow(view, event: index), to: tableIndex)
        }
        try changes.flush()
        for (tableIndex, entity) in entities.enumerated() {
            guard let access = try access(to: entity.id), let rows = try changes.rows(of: tableIndex) else { continue }
            while let net = try NetChangeStore.next(of: rows) {
                findUntouched(net, current: try access.row(net.row.values), access: access)
            }
        }
    }

    private func findUntouched(_ net: NetRow, current: [NetRow.Cell]?, access: RowEditor) {
        let row = BlockedCell(row: net.row, column: 0)
        guard net.exists else {
            if !net.existed, current != nil { untouched.insert(row) }
            return
        }
        let columns = comparedColumns(of: net, access)
        let same = columns.filter { net.existed && net.old.value(of: $0.id) == net.new.value(of: $0.id) }
        let changed = columns.filter { current?.value(of: $0.id) != net.new.value(of: $0.id) }
        if net.existed, same.count == columns.count {
            if !changed.isEmpty { untouched.insert(row) }
        } else if net.existed, !net.isWhole {
            // Nor is there anything left to do in those that hold their earlier value again, whatever they held in between.
            for column in changed
            where same.contains(where: { $0.id == column.id })
                || current != nil && current?.value(of: column.id) == net.old.value(of: column.id)
            {
                untouched.insert(BlockedCell(row: net.row, column: column.id))
            }
        } else if let current, let column = changed.first, policy != .overwrite {
            // The row's insert is reverted as a whole or not at all, and then neither are updates of the row: that would leave a
            // state that was never committed.
            untouched.insert(row)
            if net.existed, columns.allSatisfy({ current.value(of: $0.id) == net.old.value(of: $0.id) }) { return }
            wholeRows.add(
                conflict(
                    of: net, because: "it has changed since", in: column, expected: net.new.value(of: column.id),
                    found: current.value(of: column.id)))
        }
    }

    /// nil if the table was dropped.
    private func access(to entity: UInt32) throws -> RowEditor? {
        if let known = rows[entity] { return known }
        guard let found = writer.catalog.entity(id: entity), !found.isDropped else { return nil }
        let access = try RowEditor(found, writer)
        rows[entity] = access
        return access
    }

    private func revert(_ event: NetRow) throws {
        if let index = waitingRows[event.row] { return waiting[index].append(event) }
        guard let access = try access(to: event.row.entity) else {
            return block(event, because: "its table was dropped")
        }
        let row = BlockedCell(row: event.row, column: 0)
        if blocked.contains(row) || untouched.contains(row) { return }
        let current = try access.row(event.row.values)
        if !event.existed {
            try revertInsert(event, current: current, access: access)
        } else if !event.exists {
            try revertDelete(event, current: current, access: access)
        } else {
            try revertUpdate(event, current: current, access: access)
        }
    }

    private func revertInsert(
        _ event: NetRow, current: [NetRow.Cell]?, access: RowEditor
    ) throws {
        let row = BlockedCell(row: event.row, column: 0)
        guard let current else { return settle(row) }
        if policy != .overwrite {
            if settled[row] != nil { return block(event, because: "a row with this key exists again") }
            for column in access.columns where column.keyOrdinal == 0 && !column.isStamp {
                let cell = BlockedCell(row: event.row, column: column.id)
                // The conflict in this column is already reported.
                if blocked.contains(cell) {
                    blocked.insert(row)
                    return
                }
                let found = current.value(of: column.id) ?? .null
                let left = settled[cell]
                let expected = left ?? event.new.value(of: column.id)
                if found == expected ?? .null || expected == nil && found == ExactValue(column.fallback) { continue }
                return block(
                    event, because: "it has changed since", in: column, expected: expected ?? .null, found: found)
            }
        }
        // Their own events may still delete the rows that refer to it: they are deleted with it only at the end, to overwrite.
        try put(event) { try access.delete(event.row.values, withOthers: deletesOthers) }
    }

    private func revertDelete(
        _ event: NetRow, current: [NetRow.Cell]?, access: RowEditor
    ) throws {
        let row = BlockedCell(row: event.row, column: 0)
        var old: [UInt32: ExactValue] = [:]
        for column in access.columns { old[column.id] = event.old.value(of: column.id) }
        if let current {
            if old.allSatisfy({ current.value(of: $0.key) == $0.value }) { return settle(row) }
            guard policy == .overwrite else { return block(event, because: "a row with this key exists again") }
            try put(event) { try access.update(event.row.values, old, withOthers: deletesOthers) }
        } else {
            if settled[row] != nil, policy != .overwrite { return block(event, because: "it was deleted since") }
            try put(event) { try access.insert(event.row.values, old) }
        }
    }

    private func revertUpdate(
        _ event: NetRow, current: [NetRow.Cell]?, access: RowEditor
    ) throws {
        guard let current else { return block(event, because: "it was deleted since") }
        if policy != .overwrite, settled[BlockedCell(row: event.row, column: 0)] != nil {
            return block(event, because: "a row with this key exists again")
        }
        var changes: [UInt32: ExactValue] = [:]
        for column in access.columns {
            guard let old = event.old.value(of: column.id), let new = event.new.value(of: column.id),
                let found = current.value(of: column.id)
            else { continue }
            let cell = BlockedCell(row: event.row, column: column.id)
            if blocked.contains(cell) || untouched.contains(cell) { continue }
            if found == old {
                settle(cell, left: new)
            } else if column.origin != 0, try !existed(column, of: event) {
                // A value that a conversion filled in has no earlier value.
                block(
                    event, because: "the column was converted, and its old values belong to another column", in: column)
            } else if policy == .overwrite || settled[cell] == nil && found == new {
                changes[column.id] = old
            } else if !column.isStamp {
                block(event, because: "it has changed since", in: column, expected: settled[cell] ?? new, found: found)
            }
        }
        guard !changes.isEmpty else { return }
        try put(event) { try access.update(event.row.values, changes, withOthers: deletesOthers) }
    }

    /// Makes a change that other rows may block.
    private func put(_ event: NetRow, _ change: () throws -> String?) throws {
        if let reason = try change() { blockOrWait(event, because: reason) }
    }

    /// Defers a blocked event until all the rest is done, or reports it as a conflict.
    private func blockOrWait(_ event: NetRow, because reason: String) {
        if isLast {
            if repeated.contains(event.row) {
                let conflict = conflict(of: event, because: reason, in: nil, expected: nil, found: nil)
                halfReverted.append((event.row, conflict))
            }
            return block(event, because: reason)
        }
        waitingRows[event.row] = waiting.count
        waiting.append([event])
    }

    /// Records that a cell already holds the value to restore, together with the value that the event had left. Another change has
    /// set it, not this run, so its value isn't the result of earlier events.
    private func settle(_ cell: BlockedCell, left: ExactValue = .null) {
        if settled[cell] == nil { settled[cell] = left }
    }

    /// Whether a column existed before the events that are reverted.
    private func existed(_ column: CatalogColumn, of event: NetRow) throws -> Bool {
        let earlier = try earlier ?? Catalog.load(writer.database, at: first - 1)
        self.earlier = earlier
        return earlier.entity(id: event.row.entity)?.columns.contains { $0.id == column.id } ?? false
    }

    private func block(
        _ event: NetRow, because reason: String, in column: CatalogColumn? = nil, expected: ExactValue? = nil,
        found: ExactValue? = nil
    ) {
        blocked.insert(BlockedCell(row: event.row, column: column?.id ?? 0))
        outcome.add(conflict(of: event, because: reason, in: column, expected: expected, found: found))
    }

    private func conflict(
        of event: NetRow, because reason: String, in column: CatalogColumn?, expected: ExactValue?, found: ExactValue?
    ) -> RevertConflict {
        RevertConflict(
            table: writer.catalog.entity(id: event.row.entity)?.name ?? "?", key: event.row.values.map(\.value),
            column: column?.name, reason: reason, expected: expected?.value, found: found?.value)
    }
}

extension CatalogColumn {
    /// The time of a row's last save, which never causes a conflict.
    fileprivate var isStamp: Bool { name == "updatedAt" && type == "DATETIME" }
}
