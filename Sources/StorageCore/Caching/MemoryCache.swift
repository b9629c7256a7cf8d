internal import Foundation

/// A cache in memory that limits the number of values and the lifetime of each.
///
/// When a new value needs room, all expired values are removed, or the least recently used one if there are none.
///
/// ```swift
/// let cache = MemoryCache<String, User>(capacity: 100, defaultTTL: 300, clock: SystemClock())
/// await cache.set(user, for: "user-1")
/// let cached = await cache.get("user-1")
/// ```
///
/// Getting a value takes constant time; setting one that expires takes time logarithmic in the number of values.
public actor MemoryCache<Key: Hashable & Sendable, Value: Sendable> {
    private struct Entry: Sendable {
        let value: Value
        let expires: Date?
    }

    /// The maximum number of values.
    public nonisolated let capacity: Int
    /// The lifetime of a value that is set without one; 0 keeps it as long as there is room.
    public nonisolated let defaultTTL: TTL
    /// The clock by which values expire.
    public nonisolated let clock: any StorageClock
    private var entries: LeastRecentlyUsed<Key, Entry>
    private var expirations = ExpirationQueue<Key>()

    /// Creates an empty cache.
    ///
    /// - Parameter defaultTTL: The lifetime of a value that is set without one; 0 keeps it as long as there is room.
    public init(capacity: Int, defaultTTL: TTL = .minutes(5), clock: any StorageClock = SystemClock()) {
        self.capacity = capacity
        self.defaultTTL = defaultTTL
        self.clock = clock
        entries = LeastRecentlyUsed(capacity: capacity)
    }

    /// Returns the value of a key; nil if there is none or it has expired.
    public func get(_ key: Key) -> Value? {
        guard let entry = entries.value(for: key) else { return nil }
        if let expires = entry.expires, expires <= clock.now {
            entries.remove(key)
            return nil
        }
        return entry.value
    }

    /// Stores a value, replacing the key's earlier one.
    ///
    /// - Parameter ttl: The lifetime of the value; ``defaultTTL`` if nil, unlimited for 0.
    public func set(_ value: Value, for key: Key, ttl: TTL? = nil) {
        let seconds = (ttl ?? defaultTTL).seconds
        let expires = seconds > 0 ? clock.now.addingTimeInterval(seconds) : nil
        if entries.isFull(for: key) { removeExpired() }
        entries.set(Entry(value: value, expires: expires), for: key)
        guard let expires, capacity > 0 else { return }
        expirations.add(key, at: expires)
        // Values that were set again or removed still have old entries in the queue.
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

    /// Removes the value of a key.
    ///
    /// ```swift
    /// await cache.remove("weather-kyiv")
    /// ```
    public func remove(_ key: Key) { entries.remove(key) }

    /// Removes all values.
    ///
    /// ```swift
    /// await cache.removeAll()
    /// ```
    public func removeAll() {
        entries.removeAll()
        expirations = ExpirationQueue()
    }

    /// The number of values, including expired ones that haven't been requested since.
    public var count: Int { entries.count }
}
