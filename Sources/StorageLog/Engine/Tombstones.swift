/// The changes of tombstones (the last positions of deleted rows) by the commits of a group that aren't written yet: a row that
/// is inserted and deleted many times in one group costs the file one write, or none.
///
/// Invariants:
///
/// 1. After ``LogWriter/writeTombstones()``, the file holds for each row here what is here, whatever it held before.
/// 2. A commit that is undone leaves no trace, even if its tombstones, and with them those of earlier commits, were already
///    written: ``undo()`` restores the state at ``begin()``, as the file returns to its savepoint.
/// 3. At most ``most`` rows are kept, and as many changes and rows for the undo.
struct Tombstones {
    static let most = 16_384

    /// The last position of each deleted row, 0 for one that was inserted again.
    private(set) var positions: [RowAddress: Int64] = [:]
    /// The entries of rows before each change by the current commit, nil for rows without one.
    private var earlier: [(row: RowAddress, position: Int64?)] = []
    /// The entries before the current commit, if it has written since.
    private var before: [RowAddress: Int64]?

    var isEmpty: Bool { positions.isEmpty }
    var isFull: Bool { max(positions.count, earlier.count) >= Self.most }

    /// Begins a commit.
    mutating func begin() {
        earlier.removeAll(keepingCapacity: true)
        before = nil
    }

    mutating func set(_ row: RowAddress, _ position: Int64) {
        earlier.append((row, positions.updateValue(position, forKey: row)))
    }

    mutating func undo() {
        if let before { positions = before } else { revertChanges() }
        begin()
    }

    /// Removes the entries, which have been written.
    mutating func removeWritten() {
        if before == nil {
            revertChanges()
            before = positions.isEmpty ? [:] : positions
        }
        positions.removeAll(keepingCapacity: true)
        earlier.removeAll(keepingCapacity: true)
    }

    mutating func removeAll() {
        positions.removeAll(keepingCapacity: true)
        begin()
    }

    private mutating func revertChanges() {
        while let (row, position) = earlier.popLast() { positions[row] = position }
    }
}
