/// A growing run of items in plain memory, without the checks of an array: for the loops that every event goes through.
///
/// Not thread-safe: one owner fills it and reads no further than ``count``.
struct GrowingBuffer<Item: BitwiseCopyable>: ~Copyable {
    private(set) var base: UnsafeMutablePointer<Item>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 256) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    mutating func removeAll() { count = 0 }

    /// Makes room for `additional` items and returns a pointer to it.
    @inline(__always)
    mutating func reserve(_ additional: Int) -> UnsafeMutablePointer<Item> {
        if count + additional > capacity { grow(to: count + additional) }
        return base + count
    }

    @inline(never)
    private mutating func grow(to needed: Int) {
        let larger = Swift.max(capacity * 2, needed)
        let moved = UnsafeMutablePointer<Item>.allocate(capacity: larger)
        moved.update(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = larger
    }

    @inline(__always)
    mutating func advance(_ written: Int) { count += written }
}
