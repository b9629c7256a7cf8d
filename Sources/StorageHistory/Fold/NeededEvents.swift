internal import StorageCore
package import StorageLog

/// The events of a range of the log without which the state after it can't be had. The others are updates of columns
/// that were all set again later in the range, or of rows that were deleted there.
///
/// They are found from the range's end along the links by which each event points back to the one before of its row.
/// That takes the outlines of the log and no values, and a byte for each event. Inserts and deletes are always needed,
/// so that at every position a table that takes the needed events alone has the rows of that position, and lacks only
/// values that are still to come: it can be resumed from there in any way.
package struct NeededEvents: Sendable {
    package let positions: ClosedRange<Int64>
    private let entities: [CatalogEntity]
    private var bits: [UInt64]

    /// More events aren't looked at together.
    package static let limit: Int64 = 16 << 20

    package init(of entities: [CatalogEntity], in positions: ClosedRange<Int64>, _ reader: LogReader) throws {
        self.positions = positions
        self.entities = entities
        bits = [UInt64](repeating: 0, count: positions.count / 64 + 1)
        let tables = Dictionary(uniqueKeysWithValues: entities.map { ($0.id, NetWindow.Table($0)) })
        var sets = DeterminedColumns()
        // For each event the set of columns that later ones of its row settle; known once the next one was met.
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

    /// Whether it knows of events of these entities from a position on.
    package func covers(_ position: Int64, _ entities: [CatalogEntity]) -> Bool {
        positions.contains(position) && entities == self.entities
    }

    /// Whether there is a needed event among these, those beyond the range left out.
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

/// Sets of columns that were met on the way back, by numbers that fit in a byte.
private struct DeterminedColumns {
    /// No later event of the row.
    static let noEvent: UInt8 = 0
    /// There are later events, and it doesn't matter what the row was before.
    static let all: UInt8 = 1
    /// There are later events; which columns they set isn't known any more. Where there are too many different sets.
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

/// What events of one shape say of the ones before of their rows.
private struct ShapePlan {
    struct Found {
        let isNeeded: Bool
        /// The number of the set that is settled before the event.
        let determined: UInt8
    }

    private let operation: StorageEvent.Operation
    private let columns: UInt64
    /// What was found by what is settled behind the event.
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
        // What comes before an insert of the same key is a delete.
        case .insert: Found(isNeeded: true, determined: DeterminedColumns.unknown)
        case .delete: Found(isNeeded: true, determined: DeterminedColumns.all)
        case .update:
            Found(
                isNeeded: determined == DeterminedColumns.noEvent || columns & ~sets[determined] != 0,
                determined: sets.number(of: sets[determined] | columns))
        }
    }
}
