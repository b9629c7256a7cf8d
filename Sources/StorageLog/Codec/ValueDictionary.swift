/// The last value of each column of each row within one run of events, as far as the encoder has stored it.
///
/// An old value that an earlier event of the run already holds isn't stored again; ``EventValueDecoder`` keeps the same in step. A row is a
/// slot, which grows when a later shape brings new columns.
struct ValueDictionary {
    private var starts: [Int] = []
    private var sizes: [Int] = []
    private var values: [Int32] = []

    mutating func reset() {
        starts.removeAll(keepingCapacity: true)
        sizes.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
    }

    /// Begins a row and returns its slot.
    mutating func add(columns: Int) -> Int {
        starts.append(values.count)
        sizes.append(columns)
        values.append(contentsOf: repeatElement(-1, count: columns))
        return starts.count - 1
    }

    /// The index of the column's last value in a row, if the run contains it.
    @inline(__always)
    func value(_ slot: Int, _ columnIndex: Int) -> Int? {
        guard columnIndex < sizes[slot] else { return nil }
        let value = values[starts[slot] + columnIndex]
        return value < 0 ? nil : Int(value)
    }

    @inline(__always)
    mutating func set(_ slot: Int, _ columnIndex: Int, value: Int) {
        if columnIndex >= sizes[slot] { widen(slot, to: columnIndex + 1) }
        values[starts[slot] + columnIndex] = Int32(truncatingIfNeeded: value)
    }

    mutating func clear(_ slot: Int) {
        for index in starts[slot]..<starts[slot] + sizes[slot] { values[index] = -1 }
    }

    /// Moves a slot to the end, with room for columns that were added after its row.
    private mutating func widen(_ slot: Int, to size: Int) {
        let old = starts[slot]..<starts[slot] + sizes[slot]
        starts[slot] = values.count
        values.append(contentsOf: values[old])
        values.append(contentsOf: repeatElement(-1, count: size - sizes[slot]))
        sizes[slot] = size
    }
}
