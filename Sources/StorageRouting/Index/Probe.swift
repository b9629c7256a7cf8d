/// Looks for the conditions that one change may concern.
///
/// Isolation: not `Sendable`; it belongs to a ``Router``.
final class Probe {
    /// The images of the row that led to the current bucket. A condition is found only if one image matches all its
    /// anchors.
    struct Images: OptionSet {
        let rawValue: Int
        static let old = Images(rawValue: 1)
        static let new = Images(rawValue: 2)
        static let both: Images = [.old, .new]
    }

    let row: RowKeys
    /// Columns in which the two images differ, where there are two.
    var changed = ColumnMask.all
    private(set) var candidates: [Int32] = []
    /// How many are looked for, and whether there are or may be more.
    private(set) var limit = Int.max
    private(set) var isFull = false
    /// By node: the change for which it was found last.
    private var stamps: [UInt64] = []
    private var stamp: UInt64 = 0

    init(_ row: RowKeys) { self.row = row }

    /// Allocates stamps for nodes, so that looking them up needn't.
    func grow(to nodes: Int) {
        while stamps.count < nodes { stamps.append(0) }
    }

    /// Starts a search for another change.
    func begin(limit: Int = .max) {
        stamp += 1
        self.limit = limit
        isFull = false
        candidates.removeAll(keepingCapacity: true)
    }

    @inline(__always)
    func found(_ node: Int32) {
        guard stamps[Int(node)] != stamp else { return }
        stamps[Int(node)] = stamp
        guard candidates.count < limit else { return isFull = true }
        candidates.append(node)
    }

    /// Whether a list of so many conditions is within the limit.
    @inline(__always)
    func takes(_ count: Int) -> Bool {
        if count > limit { isFull = true }
        return !isFull
    }
}
