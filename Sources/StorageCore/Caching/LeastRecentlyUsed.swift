/// A dictionary with a maximum number of entries that discards the least recently used one. Every call takes constant time.
///
/// The entries form a linked list in an array, most recently used first.
package struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var key: Key
        var value: Value
        var before: Int
        var behind: Int
    }

    package let capacity: Int
    private var entries: [Entry?] = []
    private var indices: [Key: Int] = [:]
    private var free: [Int] = []
    private var front = -1
    private var back = -1

    /// - Parameter capacity: The maximum number of entries; with 0 or less there are none.
    package init(capacity: Int) { self.capacity = max(capacity, 0) }

    package var count: Int { indices.count }

    /// The value of a key, which counts as a use.
    package mutating func value(for key: Key) -> Value? {
        guard let index = indices[key] else { return nil }
        unlink(index)
        linkToFront(index)
        return entries[index]?.value
    }

    /// The value of a key, without counting as a use.
    package func peek(_ key: Key) -> Value? { indices[key].flatMap { entries[$0]?.value } }

    /// Whether adding a value of this key would remove another.
    package func isFull(for key: Key) -> Bool { indices.count >= capacity && indices[key] == nil }

    package mutating func set(_ value: Value, for key: Key) {
        guard capacity > 0 else { return }
        if let index = indices[key] {
            entries[index]?.value = value
            unlink(index)
            return linkToFront(index)
        }
        if indices.count == capacity, let last = entries[back]?.key { remove(last) }
        let entry = Entry(key: key, value: value, before: -1, behind: -1)
        let index: Int
        if let reused = free.popLast() {
            index = reused
            entries[index] = entry
        } else {
            index = entries.count
            entries.append(entry)
        }
        indices[key] = index
        linkToFront(index)
    }

    package mutating func remove(_ key: Key) {
        guard let index = indices.removeValue(forKey: key) else { return }
        unlink(index)
        entries[index] = nil
        free.append(index)
    }

    package mutating func removeAll() { self = LeastRecentlyUsed(capacity: capacity) }

    private mutating func unlink(_ index: Int) {
        guard let entry = entries[index] else { return }
        if entry.before >= 0 { entries[entry.before]?.behind = entry.behind } else { front = entry.behind }
        if entry.behind >= 0 { entries[entry.behind]?.before = entry.before } else { back = entry.before }
    }

    private mutating func linkToFront(_ index: Int) {
        entries[index]?.before = -1
        entries[index]?.behind = front
        if front >= 0 { entries[front]?.before = index } else { back = index }
        front = index
    }
}
