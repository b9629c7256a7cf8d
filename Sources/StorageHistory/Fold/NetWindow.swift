internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog

/// A range of the log folded in memory: one net change for each row that it touches, in the order of their keys.
///
/// A table to which a window is applied is written once for each row, however many versions the row had. Events find their row by
/// their back-links, so no key is looked up.
package struct NetWindow: Sendable {
    /// Events of one row have to be applied one by one, because their back-links don't say in which order they came: another program has
    /// deleted the row, and has restored it with its earlier position after it was inserted again.
    package struct Unordered: Error {}

    /// A row's state before and after the window.
    struct Row: Sendable {
        let table: Int
        /// The index in `values` of its key's first part; the columns follow.
        let values: Int
        /// The position of its last event.
        var position: Int64
        /// Whether the table has the row from before the window.
        var wasThere: Bool
        /// Whether it was deleted before, so that it has a tombstone.
        var wasDeleted: Bool
        var isThere: Bool
        /// Whether it was inserted again in the window, so that no earlier column value remains.
        var isWhole: Bool
    }

    /// A table to which the window is applied.
    package struct Table: Sendable {
        package let entity: CatalogEntity
        let key: [CatalogColumn]
        /// The columns besides the key.
        let columns: [CatalogColumn]
        let indexOfColumn: [UInt32: Int]
        /// The rows that don't exist after the window, and those that do, both in the order of their keys; known once the window
        /// is complete.
        var gone: [Int32] = []
        var present: [Int32] = []

        init(_ entity: CatalogEntity) {
            self.entity = entity
            let key = entity.key
            self.key = key
            columns = entity.live.filter { $0.keyOrdinal == 0 }
            indexOfColumn = Dictionary(
                uniqueKeysWithValues: columns.enumerated().map { ($1.id, $0 + key.count) })
        }
    }

    /// How to apply events of one shape. Contains only numbers, because each event reads one.
    private struct ShapePlan {
        let table: Int
        let operation: Int
        let keyCount: Int
        /// The number of values in a row of the table, including its key.
        let width: Int
        /// The range of `links` that map the event's columns to the table's.
        let links: Range<Int>
    }

    /// The index of a column in an event, and that of the same column in a row's values.
    private struct Link {
        let event: Int
        let row: Int
    }

    /// The type of an unknown value; SQLite's types begin with 1.
    static let unknown = storage_value(type: 0, size: 0, bits: 0)

    /// The memory of a finished window, for the next one.
    package struct Memory: Sendable {
        fileprivate var rows: [Row] = []
        fileprivate var values: [storage_value] = []
        fileprivate var heap = ValueHeap()
        fileprivate var rowOfEvent: [Int32] = []

        package init() {}

        fileprivate init(rows: [Row], values: [storage_value], heap: ValueHeap, rowOfEvent: [Int32]) {
            self.rows = rows
            self.values = values
            self.heap = heap
            self.rowOfEvent = rowOfEvent
        }
    }

    private let limit: Int
    package let first: Int64
    /// The last position of the window.
    package private(set) var last: Int64
    package private(set) var events = 0
    package private(set) var tables: [Table]
    private(set) var rows: [Row] = []
    /// The number of rows that existed before.
    private var foundRows = 0
    private(set) var values: [storage_value] = []
    /// The texts and blobs of the values.
    private(set) var heap = ValueHeap()
    private var tableOfEntity: [UInt32: Int] = [:]
    /// For each event of the added batches the index of its row, or one of the negative numbers; batches follow each other.
    private var rowOfEvent: [Int32] = []
    private static let foreign: Int32 = -1
    private static let skipped: Int32 = -2
    private var batches: [(first: Int64, start: Int)] = []
    /// For each event of the last batch the index of its row if the event that it points back to is in an earlier batch, or one
    /// of the negative numbers.
    private var earlierRows: [Int32] = []
    /// The events to apply; all if nil.
    package let needed: NeededEvents?

    /// Whether entities are supported: a set of columns is stored as one bit per column.
    package static func takes(_ entities: [CatalogEntity]) -> Bool {
        entities.allSatisfy { $0.live.count <= UInt64.bitWidth }
    }

    /// Creates an empty window after a position.
    ///
    /// - Parameters:
    ///   - needed: The needed events; the window begins and ends among their positions.
    ///   - limit: The memory that it may take. If rows have several events, so that a longer window saves writes, it may be ten
    ///     times as much; if the table has the rows from before, so that a longer window saves reading it again, five times.
    ///   - memory: That of a finished window.
    package init(
        _ entities: [CatalogEntity], after position: Int64, needed: NeededEvents?, limit: Int, memory: consuming Memory
    ) {
        self.limit = limit
        self.needed = needed
        // Moved, not shared: a shared array would be copied.
        swap(&rows, &memory.rows)
        swap(&values, &memory.values)
        swap(&heap, &memory.heap)
        swap(&rowOfEvent, &memory.rowOfEvent)
        let most = limit * Self.mostPatience + limit
        heap.reset(reserving: most)
        values.reset(reservingBytes: most, onLargePages: true)
        rows.reset(reservingBytes: most)
        rowOfEvent.reset(reservingBytes: most)
        tables = entities.map(Table.init)
        for (tableIndex, entity) in entities.enumerated() { tableOfEntity[entity.id] = tableIndex }
        first = position + 1
        last = position
    }

    /// The memory for the next window, once this one is finished.
    package var legacy: Memory { Memory(rows: rows, values: values, heap: heap, rowOfEvent: rowOfEvent) }

    /// The approximate memory of the window.
    package var memory: Int {
        heap.bytes.count + values.count * MemoryLayout<storage_value>.stride + rows.count * MemoryLayout<Row>.stride
            + rowOfEvent.count * MemoryLayout<Int32>.stride
    }

    /// The factor by which the window may exceed its limit for the work that this saves.
    private var patience: Int {
        if events > rows.count + rows.count / 4 { return Self.mostPatience }
        return mostlyComesBack ? Self.mostPatience / 2 : 1
    }

    private static let mostPatience = 10

    /// Whether the table has many of the rows from before, so that this window costs another pass over it.
    private var mostlyComesBack: Bool { foundRows > rows.count / 2 }

    /// Compacts the heap if memory is short, and returns whether there is room afterwards.
    package mutating func makeRoom() -> Bool {
        let limit = limit * patience
        guard memory >= limit else { return true }
        guard heap.freeBytes > heap.bytes.count / 4 else { return false }
        heap.compact(&values)
        return memory < limit
    }

    /// Applies the events of a batch up to a position; batches come in the order of the log.
    package mutating func add(_ batch: EventBatch, through limit: Int64) throws {
        let start = max(first, batch.header.first)
        let end = min(limit, batch.header.last)
        try batch.withView { view in
            var links: [Link] = []
            let plans = try (0..<view.shapeCount).map { try plan(view.shapes[$0], &links) }
            batches.append((start, rowOfEvent.count))
            findEarlierRows(view.events + Int(start - batch.header.first), at: start...end)
            for position in start...end {
                if Int(position - start).isMultiple(of: Contents.prefetchStep) {
                    Contents.prefetchStep(
                        earlierRows, after: Int(position - start), rows: rows, values: values, bytes: heap.bytes)
                }
                let index = Int(position - batch.header.first)
                guard let plan = plans[Int(view.events[index].shape)] else {
                    rowOfEvent.append(Self.foreign)
                    continue
                }
                guard needed?.contains(position) ?? true else {
                    rowOfEvent.append(try skip(view, event: index, at: position, plan: plan))
                    continue
                }
                rowOfEvent.append(Int32(try add(view, event: index, at: position, plan: plan, links: links)))
                events += 1
            }
        }
        last = end
    }

    /// Whether it pays to find the ``NeededEvents`` of the log behind the window: where windows repeatedly change the same rows, reading
    /// the outlines of the log costs a small part of what applying all events does.
    ///
    /// - Parameter end: The last position of the log to be read.
    package func isWorthSeeking(through end: Int64) -> Bool { mostlyComesBack && end - last > 4 * (last - first) }

    /// Ends the window at a position.
    ///
    /// - Throws: ``Unordered``.
    package mutating func finish(at position: Int64) throws(Unordered) {
        last = position
        batches = []
        heap.terminate()
        try sort()
    }

    private func plan(_ shape: storage_shape, _ links: inout [Link]) throws -> ShapePlan? {
        guard let tableIndex = tableOfEntity[shape.entity] else { return nil }
        let table = tables[tableIndex]
        guard table.key.count == Int(shape.key_count) else {
            throw StorageError.corruptLog(
                "an event of \"\(table.entity.name)\" has a key of \(shape.key_count) columns")
        }
        let start = links.count
        for event in 0..<Int(shape.column_count) {
            if let row = table.indexOfColumn[shape.columns[event]] { links.append(Link(event: event, row: row)) }
        }
        return ShapePlan(
            table: tableIndex, operation: Int(shape.operation), keyCount: table.key.count,
            width: table.key.count + table.columns.count, links: start..<links.count)
    }

    @inline(__always)
    private mutating func add(
        _ view: EventView, event index: Int, at position: Int64, plan: ShapePlan, links: [Link]
    ) throws -> Int {
        let previous = view.events[index].previous
        let isInsert = plan.operation == STORAGE_INSERT
        let known =
            previous >= first
            ? try row(ofEventAt: previous, before: position, in: view, event: index, plan: plan) : Self.skipped
        let rowIndex = known >= 0 ? Int(known) : begin(view, event: index, at: position, plan: plan)
        guard rows[rowIndex].isThere != isInsert else {
            throw StorageError.corruptLog(
                "event @\(position) "
                    + (isInsert ? "inserts a row that already exists" : "changes a row that doesn't exist"))
        }
        rows[rowIndex].position = position
        let start = rows[rowIndex].values
        guard plan.operation != STORAGE_DELETE else {
            rows[rowIndex].isThere = false
            rows[rowIndex].isWhole = true
            forgetValues(start + plan.keyCount..<start + plan.width)
            return rowIndex
        }
        rows[rowIndex].isThere = true
        // An update has the old values first.
        let columnValues = view.columns(of: index) + (isInsert ? 0 : Int(view.shape(of: index).column_count))
        for link in plan.links { set(columnValues[links[link].event], from: view.bytes, at: start + links[link].row) }
        return rowIndex
    }

    /// Skips an event that isn't needed; later events of its row still find the row through it.
    private func skip(_ view: EventView, event index: Int, at position: Int64, plan: ShapePlan) throws -> Int32 {
        let previous = view.events[index].previous
        return previous >= first
            ? try row(ofEventAt: previous, before: position, in: view, event: index, plan: plan) : Self.skipped
    }

    /// Finds the rows of all events of the last batch that point back to earlier ones before any event is applied: these look-ups
    /// don't depend on each other, so the processor waits for their memory together.
    private mutating func findEarlierRows(_ events: UnsafePointer<storage_event>, at positions: ClosedRange<Int64>) {
        earlierRows.removeAll(keepingCapacity: true)
        for index in 0..<positions.count {
            let previous = events[index].previous
            guard previous >= first, previous < positions.lowerBound else {
                earlierRows.append(Self.skipped)
                continue
            }
            // The last batch that begins at or before that position.
            earlierRows.append(
                row(ofEventAt: previous, in: max(0, batches.partitioningIndex { $0.first > previous } - 1)))
        }
    }

    /// The row of an event that is before the end of a batch; negative if the batch has none.
    @inline(__always)
    private func row(ofEventAt position: Int64, in batch: Int) -> Int32 {
        let end = batch + 1 < batches.count ? batches[batch + 1].start : rowOfEvent.count
        let offset = batches[batch].start + Int(position - batches[batch].first)
        guard position >= batches[batch].first, offset < end else {
            return needed?.contains(position) == false ? Self.skipped : Self.foreign
        }
        return rowOfEvent[offset]
    }

    /// The row to which an event points back; ``skipped`` if none of its events was applied yet.
    @inline(__always)
    private func row(
        ofEventAt previous: Int64, before position: Int64, in view: EventView, event index: Int, plan: ShapePlan
    ) throws -> Int32 {
        let batch = batches.count - 1
        let isNear = previous >= batches[batch].first
        let rowIndex =
            isNear ? row(ofEventAt: previous, in: batch) : earlierRows[Int(position - batches[batch].first)]
        let fits =
            rowIndex >= 0
            // Within a batch, the decoder takes the key from the very event that is pointed to.
            ? rows[Int(rowIndex)].table == plan.table
                && (isNear || isKey(of: rows[Int(rowIndex)], in: view, event: index))
            // An insert points back to a delete, and deletes are always applied.
            : rowIndex == Self.skipped && plan.operation != STORAGE_INSERT
        guard previous < position, fits else {
            throw StorageError.corruptLog("event @\(position) points back to @\(previous), which isn't one of its row")
        }
        return rowIndex
    }

    private func isKey(of row: Row, in view: EventView, event index: Int) -> Bool {
        let key = view.key(of: index)
        return heap.bytes.withUnsafeBufferPointer { bytes in
            for part in 0..<tables[row.table].key.count {
                let known = values[row.values + part]
                guard known.type == key[part].type, known.size == key[part].size else { return false }
                guard known.hasBytes else {
                    if known.bits != key[part].bits { return false }
                    continue
                }
                let size = Int(known.size)
                if size > 0, memcmp(bytes.baseAddress! + Int(known.bits), view.bytes + Int(key[part].bits), size) != 0 {
                    return false
                }
            }
            return true
        }
    }

    /// Adds a row that the window hasn't touched yet.
    @inline(__always)
    private mutating func begin(_ view: EventView, event index: Int, at position: Int64, plan: ShapePlan) -> Int {
        let isInsert = plan.operation == STORAGE_INSERT
        if !isInsert { foundRows += 1 }
        let start = values.count
        let key = view.key(of: index)
        for _ in 0..<plan.width { values.append(Self.unknown) }
        for part in 0..<plan.keyCount { set(key[part], from: view.bytes, at: start + part) }
        rows.append(
            Row(
                table: plan.table, values: start, position: position, wasThere: !isInsert,
                wasDeleted: isInsert && view.events[index].previous > 0, isThere: !isInsert, isWhole: isInsert))
        return rows.count - 1
    }
}

// MARK: Merging

extension NetWindow {
    /// Adds the row of the records of successive windows that have the same key, the first of which finds nothing in the table. Rows are
    /// added in the order of their keys.
    ///
    /// - Parameters:
    ///   - width: The numbers of key columns and of others.
    ///   - keepsGone: Whether a row that was deleted is added, too.
    mutating func append(_ records: [RowRecord], width: (key: Int, others: Int), keepsGone: Bool) throws {
        var (isThere, position, start) = (false, Int64(0), 0)
        for index in records.indices {
            let header = records[index].header
            guard isThere || !header.flags.contains(.wasThere) else {
                throw StorageError.corruptLog("event @\(header.position) changes a row that doesn't exist")
            }
            (isThere, position) = (header.flags.contains(.isThere), header.position)
            if header.flags.contains(.isWhole) { start = index }
        }
        guard isThere || keepsGone else { return }
        let row = Row(
            table: 0, values: values.count, position: position, wasThere: false, wasDeleted: !isThere, isThere: isThere,
            isWhole: true)
        rows.append(row)
        for part in 0..<width.key { append(part, of: records[records.count - 1]) }
        for column in 0..<width.others {
            let bit: UInt64 = 1 << UInt64(column)
            // Later windows have the later values.
            var index = records.count - 1
            while index > start, records[index].header.columns & bit == 0 { index -= 1 }
            let columns = records[index].header.columns
            if columns & bit == 0 {
                values.append(Self.unknown)
            } else {
                append(width.key + (columns & (bit - 1)).nonzeroBitCount, of: records[index])
            }
        }
    }

    @inline(__always)
    private mutating func append(_ value: Int, of record: RowRecord) {
        values.append(heap.store(record.values[value], from: record.bytes, replacing: Self.unknown))
    }

    /// Ends a window of merged rows.
    mutating func finishMerged() {
        heap.terminate()
        let order = rows.indices.map(Int32.init)
        tables[0].gone = order.filter { !rows[Int($0)].isThere }
        tables[0].present = order.filter { rows[Int($0)].isThere }
    }
}

// MARK: Values

extension NetWindow {
    @inline(__always)
    private mutating func set(_ value: storage_value, from source: UnsafePointer<UInt8>, at index: Int) {
        values[index] = heap.store(value, from: source, replacing: values[index])
    }

    /// Discards the values of a deleted row's columns.
    private mutating func forgetValues(_ range: Range<Int>) {
        for index in range {
            heap.free(values[index])
            values[index] = Self.unknown
        }
    }
}

// MARK: Order

extension NetWindow {
    private mutating func sort() throws(Unordered) {
        for table in tables.indices {
            let rowIndices = rows.indices.filter { rows[$0].table == table }
            let sorted = values.withUnsafeBufferPointer { values in
                heap.bytes.withUnsafeBufferPointer { bytes in
                    KeyOrder(values: values, bytes: bytes, parts: tables[table].key.count)
                        .sorted(rowIndices.map { (row: Int32($0), values: rows[$0].values) })
                }
            }
            if haveAlternatingEvents(sorted.repeats, of: sorted.rows) { throw Unordered() }
            let order = merge(sorted.repeats, of: sorted.rows)
            tables[table].gone = order.filter { !rows[Int($0)].isThere }
            tables[table].present = order.filter { rows[Int($0)].isThere }
        }
    }

    /// Merges rows of the same key: another program has deleted the row, and an insert without a back-link has created it again; or it
    /// has restored the row with an earlier position, to which the next event points back.
    ///
    /// - Parameters:
    ///   - repeats: The indices in `order` of rows with the key of the row before.
    ///   - order: The rows in the order of their keys.
    /// - Returns: The order without rows that were replaced.
    /// - Precondition: Not ``haveAlternatingEvents(_:of:)``.
    private mutating func merge(_ repeats: [Int], of order: [Int32]) -> [Int32] {
        guard !repeats.isEmpty else { return order }
        var order = order
        for index in repeats {
            // Rows begin in the order of the log.
            let (earlier, later) = (min(order[index - 1], order[index]), max(order[index - 1], order[index]))
            let replaced = rows[Int(earlier)]
            guard rows[Int(later)].isWhole || replaced.isThere else { continue }
            if !rows[Int(later)].isWhole {
                keepValues(of: replaced, in: rows[Int(later)])
                rows[Int(later)].isWhole = replaced.isWhole
            }
            rows[Int(later)].wasThere = replaced.wasThere
            rows[Int(later)].wasDeleted = rows[Int(later)].wasDeleted || replaced.wasDeleted
            order[index - 1] = Self.skipped
            order[index] = later
        }
        return order.filter { $0 >= 0 }
    }

    /// Whether an event of a row comes after the first one of a later row of the same key. The parameters are those of ``merge(_:of:)``.
    private func haveAlternatingEvents(_ repeats: [Int], of order: [Int32]) -> Bool {
        guard !repeats.isEmpty else { return false }
        // For each of these rows, where those of its key begin in the order.
        var starts: [Int32: Int] = [:]
        for index in repeats {
            let start = starts[order[index - 1], default: index - 1]
            starts[order[index - 1]] = start
            starts[order[index]] = start
        }
        var latest: [Int: Int32] = [:]
        for row in rowOfEvent {
            guard row >= 0, let start = starts[row] else { continue }
            if row < latest[start, default: row] { return true }
            latest[start] = row
        }
        return false
    }
}

extension NetWindow {
    /// Takes the values of a row's columns that its later events don't know.
    private mutating func keepValues(of earlier: Row, in later: Row) {
        let table = tables[earlier.table]
        for index in table.key.count..<table.key.count + table.columns.count
        where values[later.values + index].type == Self.unknown.type {
            values[later.values + index] = values[earlier.values + index]
        }
    }
}

extension Array {
    /// Removes all elements and reserves memory: growing would copy everything, and the system never provides pages that aren't
    /// used.
    ///
    /// - Parameter onLargePages: Whether most of the memory is used, so that it may be provided in large pages.
    mutating func reset(reservingBytes size: Int, onLargePages: Bool = false) {
        removeAll(keepingCapacity: true)
        guard capacity < size / MemoryLayout<Element>.stride else { return }
        reserveCapacity(size / MemoryLayout<Element>.stride)
        guard onLargePages else { return }
        withUnsafeMutableBufferPointer { storage_use_large_pages($0.baseAddress, size) }
    }
}
