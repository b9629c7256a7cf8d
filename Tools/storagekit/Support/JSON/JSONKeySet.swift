/// The keys seen in the objects of one line, to detect repeated ones.
///
/// One open-addressing table serves all objects at all depths: an entry carries the number of its object, and numbers only grow, so entries of
/// earlier lines count as empty and nothing is cleared between lines. The hash has a random seed, so that a file can't be prepared whose keys all
/// collide.
struct JSONKeySet: ~Copyable {
    private struct Entry {
        var object: UInt64
        var hash: UInt64
        var key: ByteSlice
    }

    private static let initialCapacity = 256
    /// A table that one giant line has made larger than this is freed before the next line.
    private static let keptCapacity = 1 << 16

    private var entries: UnsafeMutablePointer<Entry>
    private var capacity: Int
    private var used = 0
    private var lastObject: UInt64 = 0
    /// Entries of objects before this one belong to earlier lines.
    private var firstObjectOfLine: UInt64 = 1
    private let seed = UInt64.random(in: .min ... .max)

    init() {
        capacity = Self.initialCapacity
        entries = Self.allocate(Self.initialCapacity)
    }

    deinit { entries.deallocate() }

    /// Removes all keys. Call it before the memory of the keys changes.
    mutating func startLine() {
        firstObjectOfLine = lastObject + 1
        used = 0
        if capacity > Self.keptCapacity {
            entries.deallocate()
            capacity = Self.initialCapacity
            entries = Self.allocate(capacity)
        }
    }

    /// Returns a number for an object that begins now.
    @inline(__always)
    mutating func startObject() -> UInt64 {
        lastObject += 1
        return lastObject
    }

    /// Adds a key; returns false if the object already has it. The bytes must not move until `startLine`.
    @inline(__always)
    mutating func insert(_ key: ByteSlice, object: UInt64) -> Bool {
        let hash = ByteHash.hash(key, seed: seed &+ object)
        var slot = Int(truncatingIfNeeded: hash) & (capacity - 1)
        while entries[slot].object >= firstObjectOfLine {
            if entries[slot].hash == hash, entries[slot].object == object, Self.equal(entries[slot].key, key) {
                return false
            }
            slot = (slot + 1) & (capacity - 1)
        }
        entries[slot] = Entry(object: object, hash: hash, key: key)
        used += 1
        if used > capacity / 2 { grow() }
        return true
    }

    @inline(never)
    private mutating func grow() {
        let old = UnsafeMutableBufferPointer(start: entries, count: capacity)
        capacity *= 2
        entries = Self.allocate(capacity)
        for entry in old where entry.object >= firstObjectOfLine {
            var slot = Int(truncatingIfNeeded: entry.hash) & (capacity - 1)
            while entries[slot].object >= firstObjectOfLine { slot = (slot + 1) & (capacity - 1) }
            entries[slot] = entry
        }
        old.baseAddress?.deallocate()
    }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        // Objects are numbered from one, so zero marks an unused entry.
        entries.initialize(
            repeating: Entry(object: 0, hash: 0, key: ByteSlice(start: nil, count: 0)), count: capacity)
        return entries
    }

    private static func equal(_ left: ByteSlice, _ right: ByteSlice) -> Bool {
        guard left.count == right.count else { return false }
        for index in 0..<left.count where left[index] != right[index] { return false }
        return true
    }
}
