import StorageKit
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// The reference's chapters on caches, their settings and their keys.
@Suite struct ReferenceCacheTests {
    struct Forecast: Codable, Sendable, Equatable {
        var townName: String
        var highestCelsius: Double
        var madeAt: Date
    }

    private static let forecast = Forecast(
        townName: "Poltava", highestCelsius: 21.5, madeAt: Date(timeIntervalSince1970: 1_000))

    /// A clock that stands still, as tests want it.
    struct StillClock: StorageClock {
        var now: Date
    }

    // MARK: StorageConfig

    @Test("A configuration has the reference's defaults")
    func configurationDefaults() throws {
        let config = StorageConfig()
        #expect(config.defaultTTL == 300)
        #expect(config.diskQuotaBytes == 20_971_520)
        #expect(config.namespace == "storage")
        #expect(config.clock is SystemClock)
        let text = String(decoding: try config.makeEncoder().encode(Self.forecast), as: UTF8.self)
        #expect(text.contains("\"1970-01-01T00:16:40Z\""))
        #expect(try config.makeDecoder().decode(Forecast.self, from: Data(text.utf8)) == Self.forecast)
        // Each use gets an encoder of its own.
        #expect(config.makeEncoder() !== config.makeEncoder())
    }

    @Test("Everything in a configuration can be changed")
    func configurationOptions() throws {
        var config = StorageConfig(
            defaultTTL: 600, diskQuotaBytes: 50 * 1024 * 1024, clock: StillClock(now: .distantPast),
            namespace: "weather",
            configureEncoder: { encoder in
                encoder.outputFormatting = .prettyPrinted
                encoder.keyEncodingStrategy = .convertToSnakeCase
                encoder.dateEncodingStrategy = .secondsSince1970
            },
            configureDecoder: { decoder in
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                decoder.dateDecodingStrategy = .secondsSince1970
            })
        #expect(config.defaultTTL == 600)
        #expect(config.diskQuotaBytes == 52_428_800)
        #expect(config.namespace == "weather")
        #expect(config.clock.now == .distantPast)
        #expect(config.keys.namespace == "weather")
        let text = String(decoding: try config.makeEncoder().encode(Self.forecast), as: UTF8.self)
        #expect(text.contains("\"town_name\" : \"Poltava\""))
        #expect(text.contains("\"made_at\" : 1000"))
        #expect(try config.makeDecoder().decode(Forecast.self, from: Data(text.utf8)) == Self.forecast)
        config.defaultTTL = 1
        config.makeEncoder = { JSONEncoder() }
        #expect(config.defaultTTL == 1)
    }

    @Test("Clocks return the time they are made for")
    func clocks() {
        let before = Date()
        let now = SystemClock().now
        #expect(before <= now)
        #expect(now <= Date())
        #expect(StillClock(now: Date(timeIntervalSince1970: 0)).now.timeIntervalSince1970 == 0)
    }

    @Test("Keys name what they are for")
    func keyFormats() {
        let keys = KeyBuilder(namespace: "weather")
        #expect(keys.entityKey(Forecast.self, id: "1") == "weather.Forecast:1")
        #expect(keys.queryKey("latest") == "weather.query:latest")
        #expect(keys.queryKey("latest", params: ["limit": "10"]) == "weather.query:latest?limit=10")
    }

    @Test("Times and sizes have named units")
    func timesAndSizes() {
        #expect(TTL.minutes(1).seconds == 60)
        #expect(TTL.hours(1).seconds == 3_600)
        #expect(TTL(seconds: 0).seconds == 0)
        #expect(Quota.megabytes(10).bytes == 10 * 1_048_576)
        #expect(Quota.gigabytes(1).bytes == 1 << 30)
        #expect(Quota(bytes: 50_000_000).bytes == 50_000_000)
    }

    // MARK: MemoryCache

    @Test("Memory keeps what is used until it expires")
    func memoryCache() async {
        let clock = TestClock()
        let cache = MemoryCache<String, Forecast>(capacity: 2, defaultTTL: 300, clock: clock)
        #expect(cache.capacity == 2)
        #expect(cache.defaultTTL == 300)
        await cache.set(Self.forecast, for: "a", ttl: nil)
        await cache.set(Self.forecast, for: "b", ttl: 10)
        #expect(await cache.get("a") == Self.forecast)
        await cache.set(Self.forecast, for: "c", ttl: nil)
        #expect(await cache.get("b") == nil, "was not used for the longest time")
        await cache.remove("c")
        #expect(await cache.get("c") == nil)
        await cache.set(Self.forecast, for: "d", ttl: 10)
        clock.advance(11)
        #expect(await cache.get("d") == nil)
        #expect(await cache.get("a") == Self.forecast)
        clock.advance(300)
        #expect(await cache.get("a") == nil)
        await cache.set(Self.forecast, for: "e", ttl: nil)
        await cache.removeAll()
        #expect(await cache.get("e") == nil)
    }

    // MARK: DiskCache

    @Test("Values on disk survive the program")
    func diskCacheSurvivesRestart() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("cache.sqlite"))
        var context = try StorageKit.start(at: url) { $0.addKVCache() }
        func cache() -> DiskCache<Forecast> { DiskCache(db: context.storage.dbActor, config: context.config) }
        let key = context.config.keys.entityKey(Forecast.self, id: "poltava")
        await cache().set(Self.forecast, for: key, ttl: 600)
        try await context.facade.close()
        context = try StorageKit.start(at: url) { $0.addKVCache() }
        #expect(await cache().get(key) == Self.forecast)
        await cache().set(Self.forecast, for: "other", ttl: nil)
        await cache().remove(key)
        #expect(await cache().get(key) == nil)
        #expect(await cache().get("other") == Self.forecast)
        await cache().removeAll()
        #expect(await cache().get("other") == nil)
        try await context.facade.close()
    }

    @Test("The disk cache keeps to its time, quota and coders")
    func diskCacheConfiguration() async throws {
        let clock = TestClock()
        let config = StorageConfig(
            defaultTTL: 60, diskQuotaBytes: 400, clock: clock,
            configureEncoder: { $0.keyEncodingStrategy = .convertToSnakeCase },
            configureDecoder: { $0.keyDecodingStrategy = .convertFromSnakeCase })
        let context = try StorageKit.inMemory(config: config) { $0.addKVCache(tableName: "forecasts") }
        let cache = DiskCache<Forecast>(db: context.storage.dbActor, config: context.config, table: "forecasts")
        func keys() async throws -> [String] {
            try await context.storage.dbActor.read { db in
                try String.fetchAll(db, sql: "SELECT key FROM forecasts ORDER BY key")
            }
        }
        await cache.set(Self.forecast, for: "short", ttl: 5)
        await cache.set(Self.forecast, for: "usual", ttl: nil)
        await cache.set(Self.forecast, for: "ever", ttl: 0)
        let stored = try await context.storage.dbActor.read { db in
            try String.fetchOne(db, sql: "SELECT CAST(blob AS TEXT) FROM forecasts")
        }
        #expect(stored?.contains("town_name") ?? false)
        clock.advance(6)
        #expect(await cache.get("short") == nil)
        #expect(await cache.get("usual") == Self.forecast)
        clock.advance(60)
        await cache.pruneExpired()
        #expect(try await keys() == ["ever"])
        // About 90 bytes each: the oldest goes where a fifth comes.
        for number in 0..<5 {
            clock.advance(1)
            await cache.set(Self.forecast, for: "k\(number)", ttl: 0)
        }
        #expect(try await keys().contains("ever") == false)
        #expect(await cache.get("k4") == Self.forecast)
    }

    /// The four errors of the reference's cache are reported on request, and never thrown at readers.
    @Test("Every error of a cache is reported by its code")
    func cacheErrors() async throws {
        let context = try StorageKit.inMemory { $0.addKVCache() }
        let reported = Mutex<[StorageError.Code]>([])
        let onError: @Sendable (StorageError) -> Void = { error in reported.withLock { $0.append(error.code) } }
        let numbers = DiskCache<Double>(db: context.storage.dbActor, config: context.config, onError: onError)
        await numbers.set(.nan, for: "n", ttl: nil)
        await DiskCache<String>(db: context.storage.dbActor, config: context.config).set("x", for: "n", ttl: nil)
        #expect(await numbers.get("n") == nil)
        let nowhere = DiskCache<Double>(
            db: context.storage.dbActor, config: context.config, table: "nowhere", onError: onError)
        #expect(await nowhere.get("n") == nil)
        await nowhere.set(1, for: "n", ttl: nil)
        #expect(
            reported.withLock { $0 } == [
                .cacheEncodingFailed, .cacheDecodingFailed, .cacheReadFailed, .cacheWriteFailed,
            ])
    }
}
