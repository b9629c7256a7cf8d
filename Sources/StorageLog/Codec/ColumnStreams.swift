/// The streams of a run, side by side in plain memory. They keep their memory for the next run.
///
/// Not thread-safe: one owner fills it. ``base`` is valid until the next ``add(_:)``.
struct ColumnStreams: ~Copyable {
    private(set) var base: UnsafeMutablePointer<ColumnStream>
    private(set) var count = 0
    /// The number of streams ever created: those beyond ``count`` are kept for a run with as many.
    private var made = 0
    private var capacity = 16

    init() { base = .allocate(capacity: capacity) }

    deinit {
        base.deinitialize(count: made)
        base.deallocate()
    }

    mutating func removeAll() { count = 0 }

    /// Adds a stream and returns its index.
    mutating func add(_ identifier: UInt64) -> Int {
        if count == capacity { grow() }
        if count == made {
            (base + made).initialize(to: ColumnStream())
            made += 1
        }
        base[count].reset(identifier)
        count += 1
        return count - 1
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<ColumnStream>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: base, count: made)
        base.deallocate()
        base = larger
        capacity *= 2
    }
}
