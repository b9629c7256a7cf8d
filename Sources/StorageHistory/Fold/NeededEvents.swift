internal import StorageCore
package import StorageLog

/// The events of a range of the log that are needed for the state after it. The others are updates of columns that were all set
/// again later in the range, or of rows that were deleted there.
///
/// They are found from the range's end along the back-links of events to the previous event of their row. That takes the outlines
/// of the log without values, and a byte for each event. Inserts and deletes are always needed, so that at every position a table
/// built from the needed events alone has exactly the rows of that position, and lacks only values that later events set:
/// building can be resumed from there in any way.
package struct NeededEvents: Sendable {
    package let positions: ClosedRange<Int64>
    private let entities: [CatalogEntity]
    private var bits: [UInt64]

    /// The maximum length of a range.
    package static let limit: Int64 = 16 << 20

    package init(of entities: [CatalogEntity], in positions: ClosedRange<Int64>, _ reader: LogReader) throws {
        self.positions = positions
        self.entities = entities
        bits = [UInt64](repeating: 0, count: positions.count / 64 + 1)
        let tables = Dictionary(uniqueKeysWithValues: entities.map { ($0.id, NetWindow.Table($0)) })
        var sets = DeterminedColumns()
        // For each event, the set of columns that later events of its row set; known once the next of them was visited.
        var determined = [UInt8](repeating: DeterminedColumns.noEvent, count: positions.count)
        try reader.forEachOutline(in: positions, where: { $0.entities.contains { tables[$0] != nil } }) { outline in
            try Task.checkCancellation()
            var plans = outline.shapes.map { shape in tables[shape.entity].map { ShapePlan(shape, $0) } }
            for index in (0..<outline.header.count).reversed() {
                let offset = Int(outline.header.first + Int64(index) - positions.lowerBound)
                let shape = outline.shapeIndex(ofEvent: index)
                guard determined.indices.contains(offset), plans[shape] != nil else { continue }
                let found = plans[shape]!.meet(determined[offset], &sets)
                if found.isNeeded { bits[offset / 64] |= 1 << UInt64(offset % 64) }
                let previous = Int(outline.previous(ofEvent: index) - positions.lowerBound)
                if previous >= 0, previous < offset { determined[previous] = found.determined }
            }
            return true
        }
    }

    private func offset(_ position: Int64) -> Int { Int(position - positions.lowerBound) }

    @inline(__always)
    func contains(_ position: Int64) -> Bool {
        bits[offset(position) / 64] & 1 << UInt64(offset(position) % 64) != 0
    }

    /// Whether it covers the events of these entities from a position on.
    package func covers(_ position: Int64, _ entities: [CatalogEntity]) -> Bool {
        positions.contains(position) && entities == self.entities
    }

    /// Whether any event in a range is needed; positions outside of the known range are ignored.
    package func containsAny(of wanted: ClosedRange<Int64>) -> Bool {
        let range = wanted.clamped(to: positions)
        guard range.overlaps(wanted) else { return false }
        let (first, last) = (offset(range.lowerBound), offset(range.upperBound))
        return (first / 64...last / 64).contains { offset in
            var word = bits[offset]
            if offset == first / 64 { word &= .max << UInt64(first % 64) }
            if offset == last / 64 { word &= .max >> UInt64(63 - last % 64) }
            return word != 0
        }
    }
}

/// Sets of columns that were found on the way back, numbered to fit in a byte.
private struct DeterminedColumns {
    /// No later event of the row.
    static let noEvent: UInt8 = 0
    /// There are later events, and the row's earlier state doesn't matter.
    static let all: UInt8 = 1
    /// There are later events, but the columns that they set aren't known, for example because there are too many different sets.
    static let unknown: UInt8 = 2

    private var sets: [UInt64] = [0, .max, 0]
    private var numbers: [UInt64: UInt8] = [.max: Self.all]

    subscript(number: UInt8) -> UInt64 { sets[Int(number)] }

    mutating func number(of set: UInt64) -> UInt8 {
        if let known = numbers[set] { return known }
        guard sets.count <= UInt8.max else { return Self.unknown }
        let number = UInt8(sets.count)
        sets.append(set)
        numbers[set] = number
        return number
    }
}

/// How events of one shape affect the need for earlier events of their rows.
private struct ShapePlan {
    struct Found {
        let isNeeded: Bool
        /// The number of the set of columns that this event and later ones set.
        let determined: UInt8
    }

    private let operation: StorageEvent.Operation
    private let columns: UInt64
    /// Results by the number of the set of columns that later events set.
    private var known = [Found?](repeating: nil, count: 256)

    init(_ shape: SegmentOutline.Shape, _ table: NetWindow.Table) {
        operation = shape.operation
        columns = shape.columns.reduce(0) { set, column in
            table.indexOfColumn[column].map { set | 1 << UInt64($0) } ?? set
        }
    }

    @inline(__always)
    mutating func meet(_ determined: UInt8, _ sets: inout DeterminedColumns) -> Found {
        if let found = known[Int(determined)] { return found }
        let found = find(determined, &sets)
        known[Int(determined)] = found
        return found
    }

    private func find(_ determined: UInt8, _ sets: inout DeterminedColumns) -> Found {
        switch operation {
        // The event before an insert of the same key is a delete, if it points back to any.
        case .insert: Found(isNeeded: true, determined: DeterminedColumns.unknown)
        case .delete: Found(isNeeded: true, determined: DeterminedColumns.all)
        case .update:
            Found(
                isNeeded: determined == DeterminedColumns.noEvent || columns & ~sets[determined] != 0,
                determined: sets.number(of: sets[determined] | columns))
        }
    }
}
