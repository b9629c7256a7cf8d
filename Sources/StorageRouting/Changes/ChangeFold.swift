package import CSQLite
internal import Foundation
package import StorageLog

/// Events folded to one change for each row: an insert and updates become an insert, an insert and a delete cancel out,
/// several updates become one, a delete and an insert of the same key become a replacement.
///
/// Rows are identified by their keys, as everywhere in the log. All values are in one allocation: for each change an
/// image of the row before and one after, in the order of the ``RowLayout``. Texts and blobs stay in the events. Of an
/// update only the changed columns and the key are known until ``complete(_:from:)``.
///
/// Isolation: not `Sendable`; its user fills it, reads it, and empties it again, which keeps its memory. The events
/// must stay at their addresses meanwhile.
package final class ChangeFold {
    /// The rows that have changed, in the order of their first events.
    package private(set) var changes: [FoldedChange] = []
    /// Only entities of these layouts are looked at.
    private var layouts: [RowLayout] = []
    private var layoutOfEntity: [UInt32: Int32] = [:]
    private var values: UnsafeMutablePointer<storage_value>
    private var valueCount = 0
    private var capacity = 256
    private let memory = ValueMemory()
    /// Open addressing: indices into ``changes`` by the hash of their keys, -1 for empty slots. It contains the first
    /// `hashedCount` changes: a single change needs no table.
    private var table: [Int32] = []
    private var hashedCount = 0

    package init() { values = .allocate(capacity: capacity) }

    deinit { values.deallocate() }

    /// Sets the layouts of the entities to fold. Call it while there are no changes.
    package func use(_ layouts: [RowLayout]) {
        if layouts.elementsEqual(self.layouts, by: ===) { return }
        self.layouts = layouts
        layoutOfEntity = [:]
        for (layoutIndex, layout) in layouts.enumerated() { layoutOfEntity[layout.entity] = Int32(layoutIndex) }
    }

    package func removeAll() {
        changes.removeAll(keepingCapacity: true)
        valueCount = 0
        memory.removeAll()
        table.removeAll(keepingCapacity: true)
        hashedCount = 0
    }

    package func layout(of change: FoldedChange) -> RowLayout { layouts[Int(change.layout)] }

    /// The row before, and the row after; unknown values have the type 0.
    @inline(__always)
    package func old(_ change: FoldedChange) -> UnsafeMutablePointer<storage_value> { values + change.first }

    @inline(__always)
    package func new(_ change: FoldedChange) -> UnsafeMutablePointer<storage_value> {
        values + change.first + layouts[Int(change.layout)].columns.count
    }
}

// MARK: Folding

extension ChangeFold {
    /// Folds events, in order. It may be called several times, for consecutive runs of events.
    ///
    /// - Parameters:
    ///   - first: The position of the view's first event.
    ///   - attached: Values that accompany the events.
    package func add(
        _ view: EventView, _ events: Range<Int>, first: Int64, attached: AuxiliaryValues = .none
    ) {
        var beside = attached.values[...]
        for event in events {
            let shape = view.shape(of: event)
            guard let layout = layoutOfEntity[shape.entity] else { continue }
            let start = reserve(2 * layouts[Int(layout)].columns.count)
            resetImages(at: start, layout: layout, event: event, in: view, shape: shape)
            let position = first + Int64(event)
            let rowid = view.events[event].rowid
            guard !changes.isEmpty, let known = find(keyAt: start, layout: layout, rowid: rowid) else {
                begin(event, in: view, shape: shape, layout: layout, imagesAt: start, position: position)
                learn(changes.count - 1, event: event, rest: &beside, of: attached)
                continue
            }
            // The room is used again.
            valueCount = start
            follow(known, event: event, in: view, shape: shape, position: position)
            learn(known, event: event, rest: &beside, of: attached)
        }
    }

    /// Adds values of an event's row that the event itself doesn't contain, because it didn't change them.
    ///
    /// - Parameter beside: The values for this event's row and for later ones.
    private func learn(
        _ index: Int, event: Int, rest beside: inout Slice<UnsafeBufferPointer<storage_attachment>>,
        of attached: AuxiliaryValues
    ) {
        while let next = beside.first, Int(next.event) <= event {
            beside = beside.dropFirst()
            let change = changes[index]
            guard next.event == event, let columnIndex = layouts[Int(change.layout)].index(of: next.column) else {
                continue
            }
            var value = next.value
            if value.hasBytes, let bytes = attached.bytes {
                value.bits = UInt64(UInt(bitPattern: bytes + Int(value.bits)))
            }
            let (old, new) = (old(change), new(change))
            if new[columnIndex].isUnknown { new[columnIndex] = value }
            // No earlier event has changed it either, or its old value were known.
            if change.existed, !change.isWhole, old[columnIndex].isUnknown { old[columnIndex] = value }
        }
    }

    /// Completes the changes after the last event.
    ///
    /// - Parameter keepsReplaced: Whether a row that was deleted and inserted again always counts as changed. It may
    ///   have another rowid, which events don't contain.
    package func finish(keepsReplaced: Bool = false) {
        var kept = 0
        for index in changes.indices {
            var change = changes[index]
            guard change.existed || change.exists else { continue }
            if !change.isUpdate {
                change.changed = .all
            } else if change.eventCount > 1, !change.isForeign {
                change.changed = keepsReplaced && change.isWhole ? .all : difference(change)
                if change.changed == .none { continue }
            }
            changes[kept] = change
            kept += 1
        }
        changes.removeLast(changes.count - kept)
    }

    private func difference(_ change: FoldedChange) -> ColumnMask {
        let (old, new) = (old(change), new(change))
        var mask = ColumnMask.none
        for columnIndex in 0..<layouts[Int(change.layout)].columns.count
        where !old[columnIndex].isSame(as: new[columnIndex]) {
            mask.insert(columnIndex)
        }
        return mask
    }

    private func reserve(_ count: Int) -> Int {
        let start = valueCount
        if start + count > capacity {
            let larger = max(capacity * 2, start + count)
            let moved = UnsafeMutablePointer<storage_value>.allocate(capacity: larger)
            moved.update(from: values, count: start)
            values.deallocate()
            values = moved
            capacity = larger
        }
        valueCount = start + count
        return start
    }

    @inline(__always)
    private func addressed(_ value: storage_value, _ view: EventView) -> storage_value {
        guard value.hasBytes else { return value }
        return storage_value(
            type: value.type, size: value.size, bits: UInt64(UInt(bitPattern: view.bytes + Int(value.bits))))
    }

    /// Resets both images at an offset, except for the key of an event.
    private func resetImages(
        at start: Int, layout: Int32, event: Int, in view: EventView, shape: storage_shape
    ) {
        let layout = layouts[Int(layout)]
        let count = layout.columns.count
        (values + start).update(repeating: .unknown, count: 2 * count)
        let key = view.key(of: event)
        for (index, columnIndex) in layout.keyIndices.enumerated() where index < Int(shape.key_count) {
            let value = addressed(key[index], view)
            values[start + columnIndex] = value
            values[start + count + columnIndex] = value
        }
    }

    /// The first event of a row.
    private func begin(
        _ event: Int, in view: EventView, shape: storage_shape, layout: Int32, imagesAt start: Int, position: Int64
    ) {
        let operation = Int(shape.operation)
        var change = FoldedChange(
            entity: shape.entity, rowid: view.events[event].rowid, position: position,
            existed: operation != STORAGE_INSERT, exists: operation != STORAGE_DELETE,
            isWhole: operation != STORAGE_UPDATE, layout: layout, first: start)
        let (old, new) = (old(change), new(change))
        switch operation {
        case STORAGE_INSERT: fill(new, of: &change, event: event, in: view, shape: shape)
        case STORAGE_DELETE: fill(old, of: &change, event: event, in: view, shape: shape)
        default:
            forEachColumn(of: &change, event: event, in: view, shape: shape) { columnIndex, before, after in
                old[columnIndex] = before
                new[columnIndex] = after
            }
        }
        changes.append(change)
    }

    /// A further event of a row that has changed.
    private func follow(_ index: Int, event: Int, in view: EventView, shape: storage_shape, position: Int64) {
        var change = changes[index]
        change.eventCount += 1
        change.position = position
        change.rowid = view.events[event].rowid
        let (old, new) = (old(change), new(change))
        switch Int(shape.operation) {
        case STORAGE_INSERT:
            let lacksOld = change.existed && !change.isWhole
            change.isWhole = true
            change.exists = true
            for columnIndex in layouts[Int(change.layout)].columns.indices
            where !layouts[Int(change.layout)].keyIndices.contains(columnIndex) {
                new[columnIndex] = .unknown
            }
            fill(new, of: &change, event: event, in: view, shape: shape)
            guard lacksOld else { break }
            // Another program had deleted the row, with values that no event has.
            for columnIndex in layouts[Int(change.layout)].columns.indices where old[columnIndex].isUnknown {
                old[columnIndex] = new[columnIndex]
            }
        case STORAGE_DELETE:
            // What no earlier event has changed was so from the beginning.
            if change.existed, !change.isWhole { fill(old, of: &change, event: event, in: view, shape: shape) }
            change.isWhole = true
            change.exists = false
        default:
            let learnsOld = change.existed && !change.isWhole
            forEachColumn(of: &change, event: event, in: view, shape: shape) { columnIndex, before, after in
                if learnsOld, old[columnIndex].isUnknown { old[columnIndex] = before }
                new[columnIndex] = after
            }
        }
        changes[index] = change
    }

    /// Fills the unknown values of an image from the whole row of an insert or a delete.
    private func fill(
        _ image: UnsafeMutablePointer<storage_value>, of change: inout FoldedChange, event: Int, in view: EventView,
        shape: storage_shape
    ) {
        let layout = layouts[Int(change.layout)]
        let columns = view.columns(of: event)
        var named = layout.keyIndices.count
        for index in 0..<Int(shape.column_count) {
            guard let columnIndex = layout.index(of: shape.columns[index]) else {
                change.isForeign = true
                continue
            }
            named += 1
            if image[columnIndex].isUnknown { image[columnIndex] = addressed(columns[index], view) }
        }
        guard named < layout.columns.count else { return }
        for columnIndex in layout.columns.indices where image[columnIndex].isUnknown {
            image[columnIndex] = layout.fallbacks[columnIndex]
        }
    }

    /// The columns that an update changed.
    @inline(__always)
    private func forEachColumn(
        of change: inout FoldedChange, event: Int, in view: EventView, shape: storage_shape,
        _ body: (_ columnIndex: Int, _ before: storage_value, _ after: storage_value) -> Void
    ) {
        let layout = layouts[Int(change.layout)]
        let columns = view.columns(of: event)
        let count = Int(shape.column_count)
        for index in 0..<count {
            guard let columnIndex = layout.index(of: shape.columns[index]) else {
                change.isForeign = true
                continue
            }
            change.changed.insert(columnIndex)
            body(columnIndex, addressed(columns[index], view), addressed(columns[count + index], view))
        }
    }
}

// MARK: Rows by their keys

extension ChangeFold {
    /// The change of the row whose key is in the image at an offset.
    private func find(keyAt start: Int, layout: Int32, rowid: Int64) -> Int? {
        if changes.count * 2 >= table.count { rehash() }
        while hashedCount < changes.count {
            let change = changes[hashedCount]
            var slot = hash(keyAt: change.first, layout: change.layout, rowid: change.rowid) & (table.count - 1)
            while table[slot] >= 0 { slot = (slot + 1) & (table.count - 1) }
            table[slot] = Int32(hashedCount)
            hashedCount += 1
        }
        var slot = hash(keyAt: start, layout: layout, rowid: rowid) & (table.count - 1)
        while table[slot] >= 0 {
            let index = Int(table[slot])
            if isSameRow(changes[index], keyAt: start, layout: layout, rowid: rowid) { return index }
            slot = (slot + 1) & (table.count - 1)
        }
        return nil
    }

    private func rehash() {
        table = [Int32](repeating: -1, count: max(64, table.count * 4))
        hashedCount = 0
    }

    private func isSameRow(_ change: FoldedChange, keyAt start: Int, layout: Int32, rowid: Int64) -> Bool {
        guard change.layout == layout else { return false }
        let keyIndices = layouts[Int(layout)].keyIndices
        guard !keyIndices.isEmpty else { return change.rowid == rowid }
        return keyIndices.allSatisfy { values[change.first + $0].isSame(as: values[start + $0]) }
    }

    private func hash(keyAt start: Int, layout: Int32, rowid: Int64) -> Int {
        let keyIndices = layouts[Int(layout)].keyIndices
        var hash = PrefixHash(seed: UInt64(UInt32(bitPattern: layout)))
        if keyIndices.isEmpty { hash.combine(UInt64(bitPattern: rowid)) }
        for columnIndex in keyIndices {
            let value = values[start + columnIndex]
            if value.hasBytes { hash.combine(value.addressed) } else { hash.combine(value.bits) }
        }
        return Int(truncatingIfNeeded: hash.finished >> 1)
    }
}

// MARK: Whole rows

extension ChangeFold {
    /// Adds an unchanged row, for a subscriber that depends on its related rows. It isn't folded with others.
    ///
    /// - Parameters:
    ///   - row: A statement's current row, whose columns are ``RowLayout/selected``.
    ///   - layout: One of the layouts in use.
    ///   - position: The position of the state that it was read from.
    package func add(unchanged row: RowReader, of layout: RowLayout, at position: Int64) {
        guard let index = layoutOfEntity[layout.entity] else { return }
        let count = layout.columns.count
        let start = reserve(2 * count)
        for columnIndex in 0..<count {
            let value = memory.keep(row, Int32(columnIndex))
            values[start + columnIndex] = value
            values[start + count + columnIndex] = value
        }
        changes.append(
            FoldedChange(
                entity: layout.entity, rowid: 0, position: position, existed: true, exists: true, isWhole: true,
                layout: index, first: start))
    }

    /// Completes an update by reading the columns that it didn't change from the current row: one look-up.
    ///
    /// - Returns: False if the row is no longer as the change left it; nothing was read then.
    package func complete(_ change: FoldedChange, from rows: CurrentRows?) -> Bool {
        guard change.isUpdate, !change.isWhole else { return true }
        guard let rows else { return false }
        let (old, new) = (old(change), new(change))
        return rows.read(change, key: new, layout: layouts[Int(change.layout)]) { row, columnIndex in
            guard new[columnIndex].isUnknown else { return }
            let value = memory.keep(row, Int32(columnIndex))
            new[columnIndex] = value
            if old[columnIndex].isUnknown { old[columnIndex] = value }
        }
    }
}
