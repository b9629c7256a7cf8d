internal import Foundation

/// Values in memory, for a time and up to a number: where there are more, those whose time is over go first, then the one that was not
/// used for the longest time.
///
/// ```swift
/// let cache = MemoryCache<String, User>(capacity: 100, defaultTTL: 300, clock: SystemClock())
/// await cache.set(user, for: "user-1")
/// let cached = await cache.get("user-1")
/// ```
///
/// Getting takes the same time however many values there are; setting one that expires, time that grows with their number's logarithm.
public actor MemoryCache<Key: Hashable & Sendable, Value: Sendable> {
    private struct Entry: Sendable {
        let value: Value
        let expires: Date?
    }

    /// The maximum number of values; beyond it, the least recently used one is removed.
    public nonisolated let capacity: Int
    /// How long a value stays; for as long as there is room where 0.
    public nonisolated let defaultTTL: TTL
    /// The clock by which values expire.
    public nonisolated let clock: any StorageClock
    private var entries: LeastRecentlyUsed<Key, Entry>
    private var expirations = ExpirationQueue<Key>()

    /// Creates an empty cache.
    ///
    /// - Parameter defaultTTL: The lifetime of values in seconds; 0 or less keeps them as long as there is room.
    public init(capacity: Int, defaultTTL: TTL = .minutes(5), clock: any StorageClock = SystemClock()) {
        self.capacity = capacity
        self.defaultTTL = defaultTTL
        self.clock = clock
        entries = LeastRecentlyUsed(capacity: capacity)
    }

    /// The value of a key, nil where there is none or its time is over.
    public func get(_ key: Key) -> Value? {
        guard let entry = entries.value(for: key) else { return nil }
        if let expires = entry.expires, expires <= clock.now {
            entries.remove(key)
            return nil
        }
        return entry.value
    }

    /// Stores a value, replacing an earlier one of the key.
    ///
    /// - Parameter ttl: How long the value stays; ``defaultTTL`` where nil, for ever for 0.
    public func set(_ value: Value, for key: Key, ttl: TTL? = nil) {
        let seconds = (ttl ?? defaultTTL).seconds
        let expires = seconds > 0 ? clock.now.addingTimeInterval(seconds) : nil
        if entries.isFull(for: key) { removeExpired() }
        entries.set(Entry(value: value, expires: expires), for: key)
        guard let expires, capacity > 0 else { return }
        expirations.add(key, at: expires)
        // Values that were set again or removed are still in line.
        if expirations.count > 2 * entries.count + 16 {
            expirations.retain { key, time in entries.peek(key)?.expires == time }
        }
    }

    private func removeExpired() {
        let now = clock.now
        while let (key, time) = expirations.next(until: now) {
            if entries.peek(key)?.expires == time { entries.remove(key) }
        }
    }

    /// Forgets the value of a key.
    public func remove(_ key: Key) { entries.remove(key) }

    /// Forgets every value.
    public func removeAll() {
        entries.removeAll()
        expirations = ExpirationQueue()
    }

    /// The number of values, including expired ones that haven't been requested since.
    public var count: Int { entries.count }
}
