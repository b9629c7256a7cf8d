internal import CSQLite
internal import Foundation

/// The net change of one row over a range of the log: one change, however many events there were.
///
/// A single event is such a change, and two consecutive ones combine to one (``followed(by:)``), so a range can be folded in
/// pieces of any size.
package struct NetRow: Hashable, Sendable {
    package struct Cell: Hashable, Sendable {
        /// The column's id in the catalog.
        package let column: UInt32
        package let value: ExactValue

        package init(column: UInt32, value: ExactValue) {
            self.column = column
            self.value = value
        }
    }

    /// The row, of the entity of the last event.
    package let row: RowAddress
    /// The entity of the first event, which differs if a table was dropped and another one got its name.
    package private(set) var firstEntity: UInt32
    /// Whether the row existed before the first event, and whether it exists after the last one.
    package private(set) var existed: Bool
    package private(set) var exists: Bool
    /// Whether the row was inserted or deleted inside the range, so that ``new`` and ``old`` are complete rows.
    package private(set) var isWhole: Bool
    /// The changed columns, by rising id, with their values before and after.
    package private(set) var old: [Cell]
    package private(set) var new: [Cell]
    /// The values of the insert that began the row, if it didn't exist before; empty else. If it turns out that the row did exist,
    /// they take the place of old values that no event has.
    private(set) var inserted: [Cell] = []

    /// Creates a change of a row that has no events yet, with its known columns.
    package init(untouched cells: [Cell], of row: RowAddress) {
        self.row = row
        firstEntity = row.entity
        existed = true
        exists = true
        isWhole = false
        old = Self.sorted(cells)
        new = old
    }

    /// Creates the change of one event.
    package init(_ view: EventView, event: Int) {
        let shape = view.shape(of: event)
        let count = Int(shape.column_count)
        let first = view.columns(of: event)
        func cells(_ start: UnsafePointer<storage_value>) -> [Cell] {
            Self.sorted(
                (0..<count).map {
                    Cell(column: shape.columns[$0], value: ExactValue(start[$0], bytes: view.bytes))
                })
        }
        row = RowAddress(view, at: event)
        firstEntity = shape.entity
        existed = !shape.isInsert
        exists = !shape.isDelete
        isWhole = !shape.isUpdate
        old = existed ? cells(first) : []
        new = exists ? cells(shape.isUpdate ? first + count : first) : []
        if !existed { inserted = new }
    }

    /// Creates a change of a whole row; its cells are ordered by rising column.
    ///
    /// - Parameters:
    ///   - old: nil if there was no row before.
    ///   - new: nil if there is no row after.
    package init(whole old: [Cell]?, to new: [Cell]?, of row: RowAddress) {
        self.init(
            row: row, firstEntity: row.entity, existed: old != nil, exists: new != nil, isWhole: true, old: old ?? [],
            new: new ?? [], inserted: old == nil ? new ?? [] : [])
    }

    init(
        row: RowAddress, firstEntity: UInt32, existed: Bool, exists: Bool, isWhole: Bool, old: [Cell], new: [Cell],
        inserted: [Cell] = []
    ) {
        self.row = row
        self.firstEntity = firstEntity
        self.existed = existed
        self.exists = exists
        self.isWhole = isWhole
        self.old = old
        self.new = new
        self.inserted = inserted
    }

    private static func sorted(_ cells: [Cell]) -> [Cell] {
        for index in cells.indices.dropFirst() where cells[index - 1].column > cells[index].column {
            return cells.sorted { $0.column < $1.column }
        }
        return cells
    }

    /// Combines this change with a later one of the same row. An insert replaces a row that is there.
    package func followed(by later: NetRow) -> NetRow {
        var result = later
        result.firstEntity = firstEntity
        result.existed = existed
        result.isWhole = isWhole || later.isWhole
        // A value that the later change replaced in a column that this one left unchanged was there from the beginning. An insert
        // of a row that is there has replaced values that no event has, because another program had deleted them: its own take
        // their place.
        let replaced = later.existed ? later.old : later.inserted
        result.inserted = inserted
        result.old = existed && !isWhole ? Self.merged(replaced, under: old) : old
        if !later.isWhole { result.new = Self.merged(new, under: later.new) }
        return result
    }

    /// The row as it was before the change; nil if there was none.
    ///
    /// - Parameter after: The row after the change; nil if it is unknown and not needed.
    package func before(_ after: [Cell]? = nil) -> [Cell]? {
        guard existed else { return nil }
        return isWhole ? old : after.map { Self.merged($0, under: old) }
    }

    /// The row as it is after the change; nil if there is none.
    ///
    /// - Parameter before: The row before the change; nil if it is unknown and not needed.
    package func after(_ before: [Cell]? = nil) -> [Cell]? {
        guard exists else { return nil }
        return isWhole ? new : before.map { Self.merged($0, under: new) }
    }

    /// The change without some of its old values.
    package func forgettingOld(where isForgotten: (Cell) -> Bool) -> NetRow {
        var change = self
        change.old.removeAll(where: isForgotten)
        return change
    }

    /// The merged cells; those of `upper` replace those of `lower`.
    private static func merged(_ lower: [Cell], under upper: [Cell]) -> [Cell] {
        var output: [Cell] = []
        output.reserveCapacity(max(lower.count, upper.count))
        var next = 0
        for cell in upper {
            while next < lower.count, lower[next].column < cell.column {
                output.append(lower[next])
                next += 1
            }
            if next < lower.count, lower[next].column == cell.column { next += 1 }
            output.append(cell)
        }
        output.append(contentsOf: lower[next...])
        return output
    }

    /// The approximate memory of the change. Inserted values are mostly those of ``new``, in the same memory.
    package var byteCount: Int {
        (old + new).reduce(96 + row.key.count) { $0 + MemoryLayout<Cell>.stride + $1.value.byteCount }
    }
}
