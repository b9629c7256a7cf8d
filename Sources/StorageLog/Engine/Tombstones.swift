/// What the commits of a group did to tombstones, the last positions of deleted rows, until it is written: a row that goes and
/// comes back many times in one group costs the file one write, or none.
///
/// Invariants:
///
/// 1. A row that is here has in the file, once ``LogWriter/writeTombstones()`` has run, what it has here, whatever it has there now.
/// 2. A commit that is undone leaves no trace, also where its tombstones, and with them those of earlier commits, were written
///    already: ``undo()`` goes back to what was here at ``begin()``, as the file does to its savepoint.
/// 3. There are ``most`` rows at the most, and as many changes and rows kept to go back to.
struct Tombstones {
    static let most = 16_384

    /// The last position of each row that was deleted, 0 for one that has come back.
    private(set) var positions: [RowAddress: Int64] = [:]
    /// What rows had here before each change by the commit under way, nil for those that weren't here.
    private var earlier: [(row: RowAddress, position: Int64?)] = []
    /// What was here before the commit under way, if it has written since.
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

    /// Forgets what has been written.
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
