internal import CSQLite
internal import StorageCore
internal import StorageLog
internal import StorageRouting

/// How the groups of an ``AggregateNode`` are kept from the values of changed rows.
struct AggregatePlan {
    struct Term {
        let function: AggregateTerm.Function
        /// The column's index in the layout, and among the columns that are read; nil for the number of rows.
        let columnIndex: Int?
        let read: Int32
        let reading: ColumnReading?
    }

    private let groups: [ColumnReading]
    let terms: [Term]
    /// The names of the columns that a scan reads: those that rows are grouped by, then the others.
    let columns: [String]
    private let extremeCount: Int
    private let scratch = KeyBuffer()
    private let key = KeyBuffer()

    /// - Returns: Nil if only SQLite can compare the values, because of a custom collation, or select the rows, because
    ///   of a limit.
    init?(_ spec: AggregateSpec, _ layout: RowLayout) throws {
        guard !spec.hasWindow else { return nil }
        func reading(_ name: String) throws -> ColumnReading? {
            let columnIndex = try layout.index(named: name)
            return layout.columns[columnIndex].collation.map {
                ColumnReading(columnIndex: columnIndex, conversion: .none, collation: $0)
            }
        }
        var groups: [ColumnReading] = []
        for name in spec.groups {
            guard let reading = try reading(name) else { return nil }
            groups.append(reading)
        }
        var columns = spec.groups
        var terms: [Term] = []
        for term in spec.terms {
            guard let name = term.column else {
                terms.append(Term(function: term.function, columnIndex: nil, read: 0, reading: nil))
                continue
            }
            let reading = try reading(name)
            guard reading != nil || !term.compares else { return nil }
            let read = columns.firstIndex(of: name) ?? columns.count
            if read == columns.count { columns.append(name) }
            terms.append(
                Term(
                    function: term.function, columnIndex: try layout.index(named: name), read: Int32(read),
                    reading: reading))
        }
        (self.groups, self.terms, self.columns) = (groups, terms, columns)
        extremeCount = spec.extremeCount
    }

    /// Whether rows of a group may have different texts in the grouping columns.
    var joinsTexts: Bool { groups.contains { $0.collation != .binary } }

    /// Whether groups only need to know how many rows they have.
    var onlyCounts: Bool { terms.allSatisfy { $0.columnIndex == nil } }

    func accumulators() -> [(any Accumulator)?] {
        terms.map { term in
            guard term.columnIndex != nil else { return nil }
            switch term.function {
            case .count: return CountAccumulator()
            case .sum: return SumAccumulator(isMean: false)
            case .average: return SumAccumulator(isMean: true)
            case .distinctCount: return term.reading.map { DistinctAccumulator($0, scratch) }
            case .minimum:
                return term.reading.map { ExtremeAccumulator($0, isMaximum: false, capacity: extremeCount, scratch) }
            case .maximum:
                return term.reading.map { ExtremeAccumulator($0, isMaximum: true, capacity: extremeCount, scratch) }
            }
        }
    }

    // MARK: Groups

    /// The key of a changed row's group; groups are sorted by the bytes of their keys. Valid until the next call.
    ///
    /// - Throws: ``StaleNode`` if a value isn't known.
    func groupKey(of change: ChangedRow, _ image: RowKeys.Image) throws -> UnsafeRawBufferPointer {
        key.removeAll()
        for group in groups {
            guard let value = change.value(group.columnIndex, image) else { throw StaleNode() }
            ComparisonKey.appendPart(value, group, to: key)
        }
        return key.bytes(from: 0)
    }

    /// The same for a statement's current row, whose first columns are the grouping columns.
    func groupKey(of row: RowReader) -> UnsafeRawBufferPointer {
        key.removeAll()
        for (columnIndex, group) in groups.enumerated() {
            ComparisonKey.appendPart(storage_value(borrowing: row, column: Int32(columnIndex)), group, to: key)
        }
        return key.bytes(from: 0)
    }

    func groupValues(of change: ChangedRow, _ image: RowKeys.Image) -> [StorageValue] {
        groups.map { change.value($0.columnIndex, image)?.value() ?? .null }
    }

    func groupValues(of row: RowReader) -> [StorageValue] {
        groups.indices.map { storage_value(borrowing: row, column: Int32($0)).value() }
    }
}

/// What is kept of one group.
final class GroupTotals {
    let id: PackedKey
    /// The key that groups are sorted by, as bytes.
    let sort: [UInt8]
    /// The values of one of its rows in the grouping columns.
    var key: [StorageValue]
    /// Whether that row may have been removed or changed.
    var isKeyOld = false
    var count = 0
    /// One for each term; nil for the number of rows.
    let accumulators: [(any Accumulator)?]
    /// The row that was published last; nil if none was.
    var emitted: AggregateRow?
    var isDirty = false

    init(_ id: PackedKey, sort: [UInt8], key: [StorageValue], _ accumulators: [(any Accumulator)?]) {
        self.id = id
        self.sort = sort
        self.key = key
        self.accumulators = accumulators
    }

    func row() throws -> AggregateRow {
        AggregateRow(key: key, values: try accumulators.map { try $0?.output() ?? .integer(Int64(count)) })
    }
}
