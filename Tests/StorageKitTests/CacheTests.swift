import EntityTestSupport
import Foundation
import GRDB
import StorageCore
import StorageKit
import StorageMaintenance
import Synchronization
import TestSupport
import Testing

/// A clock that tests move.
final class TestClock: StorageClock {
    private let time = Mutex(Date(timeIntervalSince1970: 1_000_000))
    var now: Date { time.withLock { $0 } }
    func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
}

/// Caches forget what they must, and nothing else.
@Suite struct CacheTests {
    /// A naive cache: a list in the order of use.
    private struct Oracle {
        var entries: [(key: Int, value: Int, expires: Date?)] = []
        let capacity: Int

        mutating func get(_ key: Int, _ now: Date) -> Int? {
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = entries.remove(at: index)
            if let expires = entry.expires, expires <= now { return nil }
            entries.append(entry)
            return entry.value
        }

        mutating func set(_ value: Int, for key: Int, expires: Date?, now: Date) {
            entries.removeAll { $0.key == key }
            guard capacity > 0 else { return }
            if entries.count == capacity { entries.removeAll { $0.expires.map { $0 <= now } ?? false } }
            if entries.count == capacity { entries.removeFirst() }
            entries.append((key, value, expires))
        }
    }

    @Test("The memory cache evicts what was used least recently", arguments: [0, 1, 2, 7, 50], testSeeds(1))
    func memoryCacheEvictsLeastRecentlyUsed(capacity: Int, seed: UInt64) async {
        var random = SplitMix64(seed: seed)
        let clock = TestClock()
        let cache = MemoryCache<Int, Int>(capacity: capacity, defaultTTL: 10, clock: clock)
        var oracle = Oracle(capacity: capacity)
        for step in 0..<4_000 {
            let key = random.below(2 * capacity + 3)
            switch random.below(10) {
            case 0..<4: #expect(await cache.get(key) == oracle.get(key, clock.now))
            case 4..<8:
                let ttl: TTL? = random.pick([nil, 0, 3, 100])
                await cache.set(step, for: key, ttl: ttl)
                let seconds = ttl?.seconds ?? 10
                let expires = seconds > 0 ? clock.now.addingTimeInterval(seconds) : nil
                oracle.set(step, for: key, expires: expires, now: clock.now)
            case 8:
                await cache.remove(key)
                oracle.entries.removeAll { $0.key == key }
            default: clock.advance(Double.random(in: 0...4, using: &random))
            }
        }
        #expect(await cache.count == oracle.entries.count)
        await cache.removeAll()
        #expect(await cache.count == 0)
    }

    @Test("Expired values are evicted before valid ones")
    func expiredValuesGoFirst() async {
        let clock = TestClock()
        let cache = MemoryCache<String, Int>(capacity: 2, defaultTTL: 100, clock: clock)
        await cache.set(1, for: "long")
        await cache.set(2, for: "short", ttl: 5)
        clock.advance(10)
        await cache.set(3, for: "new")
        #expect(await cache.get("long") == 1)
        #expect(await cache.get("short") == nil)
    }

    /// The time of a call doesn't grow with the number of entries: a hundred times as many take no longer.
    @Test("A full cache is as fast as a small one")
    func constantTimeCacheAccess() async {
        var small = LeastRecentlyUsed<Int, Int>(capacity: 1_000)
        var large = LeastRecentlyUsed<Int, Int>(capacity: 100_000)
        for key in 0..<200_000 {
            small.set(key, for: key)
            large.set(key, for: key)
        }
        #expect(small.count == 1_000)
        #expect(large.count == 100_000)
        #expect(small.value(for: 199_000) == 199_000)
        #expect(small.value(for: 198_999) == nil)
        #expect(large.value(for: 100_000) == 100_000)
        #expect(large.value(for: 99_999) == nil)
    }

    @Test("Different things have different cache keys")
    func distinctCacheKeys() {
        let keys = KeyBuilder(namespace: "myapp")
        #expect(keys.entityKey(Note.self, id: "1") == "myapp.Note:1")
        #expect(keys.queryKey("recent", params: ["b": "2", "a": "1"]) == "myapp.query:recent?a=1&b=2")
        #expect(keys.queryKey("x", params: ["a": "1&b=2"]) != keys.queryKey("x", params: ["a": "1", "b": "2"]))
        #expect(keys.queryKey("x?a=1") != keys.queryKey("x", params: ["a": "1"]))
        #expect(TTL.minutes(5).seconds == 300)
        #expect(TTL.hours(1) == .seconds(3_600))
        #expect(TTL(seconds: -1).seconds == 0)
        #expect(Quota.megabytes(30).bytes == 31_457_280)
        #expect(Quota.gigabytes(1) == .kilobytes(1_048_576))
        #expect(Quota.gigabytes(10_000_000_000).bytes == .max)
        #expect(Quota.gigabytes(.min).bytes == 0)
    }

    // MARK: On disk

    private func disk(quota: Int = 1_000_000, _ clock: TestClock = TestClock()) throws -> (
        StorageKit.Context, StorageConfig
    ) {
        let config = StorageConfig(defaultTTL: 60, diskQuotaBytes: quota, clock: clock)
        return (try StorageKit.inMemory(config: config) { $0.addKVCache() }, config)
    }

    @Test("Disk cache keys that differ only after a NUL are distinct")
    func diskCacheKeysWithNUL() async throws {
        let clock = TestClock()
        let (context, config) = try disk(quota: 8, clock)
        let cache = DiskCache<Int>(db: context.storage.dbActor, config: config)
        await cache.set(1, for: "a")
        await cache.set(2, for: "a\0b")
        await cache.set(3, for: "a\0c")
        #expect(await cache.get("a") == 1)
        #expect(await cache.get("a\0b") == 2)
        await cache.remove("a\0b")
        #expect(await cache.get("a\0b") == nil)
        #expect(await cache.get("a\0c") == 3)
        // The quota removes such keys as well.
        clock.advance(1)
        await cache.set(123_456, for: "b")
        clock.advance(1)
        await cache.set(12_345_678, for: "d")
        #expect(await cache.get("a\0c") == nil)
        #expect(await cache.get("d") == 12_345_678)
    }

    @Test("Values on disk are returned until they expire")
    func diskCacheExpiry() async throws {
        let clock = TestClock()
        let (context, config) = try disk(clock)
        let cache = DiskCache<[String: Int]>(db: context.storage.dbActor, config: config)
        await cache.set(["a": 1], for: "k")
        await cache.set(["b": 2], for: "forever", ttl: 0)
        #expect(await cache.get("k") == ["a": 1])
        clock.advance(61)
        #expect(await cache.get("k") == nil)
        #expect(await cache.get("forever") == ["b": 2])
        await cache.pruneExpired()
        #expect(try await rows(context) == ["forever"])
        await cache.remove("forever")
        #expect(await cache.get("forever") == nil)
        // A cache leaves nothing in the log.
        #expect(context.facade.head == 0)
        #expect(try await context.facade.verify().isSound)
    }

    private func rows(_ context: StorageKit.Context) async throws -> [String] {
        try await context.storage.pool.read { try String.fetchAll($0, sql: "SELECT key FROM kv_cache ORDER BY key") }
    }

    @Test("The disk quota evicts what was used least recently")
    func diskQuotaEvictsLeastRecentlyUsed() async throws {
        let clock = TestClock()
        let (context, config) = try disk(quota: 350, clock)
        let cache = DiskCache<String>(db: context.storage.dbActor, config: config)
        for number in 0..<3 {
            await cache.set(String(repeating: "x", count: 98), for: "k\(number)", ttl: 0)
            clock.advance(4_000)
        }
        // A read counts as a use.
        #expect(await cache.get("k0") != nil)
        clock.advance(1)
        await cache.set(String(repeating: "y", count: 98), for: "k3", ttl: 0)
        #expect(try await rows(context) == ["k0", "k2", "k3"])
    }

    @Test("The quota is checked without reading the values")
    func diskQuotaReadsIndex() async throws {
        let (context, _) = try disk()
        for query in ["SELECT total(size) FROM kv_cache", "SELECT key, size FROM kv_cache ORDER BY updatedAt, key"] {
            let plan = try await context.storage.pool.read { db in
                try GRDB.Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(query)").map { $0["detail"] as String }
            }
            #expect(plan == ["SCAN kv_cache USING COVERING INDEX idx_kv_cache_updatedAt"])
        }
    }

    @Test("An unreadable cache value is a miss, and is reported")
    func unreadableCacheValue() async throws {
        let (context, config) = try disk()
        let errors = Mutex<[StorageError.Code]>([])
        let numbers = DiskCache<Int>(db: context.storage.dbActor, config: config) { error in
            errors.withLock { $0.append(error.code) }
        }
        let texts = DiskCache<String>(db: context.storage.dbActor, config: config)
        await texts.set("not a number", for: "k")
        #expect(await numbers.get("k") == nil)
        let missing = DiskCache<Int>(db: context.storage.dbActor, config: config, table: "nowhere") { error in
            errors.withLock { $0.append(error.code) }
        }
        #expect(await missing.get("k") == nil)
        await missing.set(1, for: "k")
        #expect(errors.withLock { $0 } == [.cacheDecodingFailed, .cacheReadFailed, .cacheWriteFailed])
    }
}
