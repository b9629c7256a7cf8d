/// A dictionary that holds a number of entries and forgets the one that was not used for the longest time. Every call takes
/// the same time however many entries there are.
///
/// The entries are links of a list in an array: the front was used last.
package struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var key: Key
        var value: Value
        var before: Int
        var behind: Int
    }

    package let capacity: Int
    private var entries: [Entry?] = []
    private var places: [Key: Int] = [:]
    private var free: [Int] = []
    private var front = -1
    private var back = -1

    /// - Parameter capacity: The most entries it holds; with 0 or less it holds none.
    package init(capacity: Int) { self.capacity = max(capacity, 0) }

    package var count: Int { places.count }

    /// The value of a key, which counts as a use.
    package mutating func value(for key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        unlink(place)
        linkToFront(place)
        return entries[place]?.value
    }

    package mutating func set(_ value: Value, for key: Key) {
        guard capacity > 0 else { return }
        if let place = places[key] {
            entries[place]?.value = value
            unlink(place)
            return linkToFront(place)
        }
        if places.count == capacity, let last = entries[back]?.key { remove(last) }
        let entry = Entry(key: key, value: value, before: -1, behind: -1)
        let place: Int
        if let reused = free.popLast() {
            place = reused
            entries[place] = entry
        } else {
            place = entries.count
            entries.append(entry)
        }
        places[key] = place
        linkToFront(place)
    }

    package mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        unlink(place)
        entries[place] = nil
        free.append(place)
    }

    package mutating func removeAll() { self = LeastRecentlyUsed(capacity: capacity) }

    private mutating func unlink(_ place: Int) {
        guard let entry = entries[place] else { return }
        if entry.before >= 0 { entries[entry.before]?.behind = entry.behind } else { front = entry.behind }
        if entry.behind >= 0 { entries[entry.behind]?.before = entry.before } else { back = entry.before }
    }

    private mutating func linkToFront(_ place: Int) {
        entries[place]?.before = -1
        entries[place]?.behind = front
        if front >= 0 { entries[front]?.before = place } else { back = place }
        front = place
    }
}
