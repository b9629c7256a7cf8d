internal import Foundation
internal import GRDB
public import StorageCore
internal import StorageLog

/// A cache in the store's file, limited by time and size, for values that come from elsewhere and may be lost.
///
/// ```swift
/// let cache = DiskCache<Weather>(db: context.storage.dbActor)
/// await cache.set(weather, for: "weather-kyiv", ttl: TTL(.seconds(600)))
/// let cached = await cache.get("weather-kyiv")
/// ```
///
/// ``Schema/addKVCache(tableName:)`` creates the table. Entities need no such cache, because their table is in the same file.
/// When the quota is exceeded, the values that were written or read the longest time ago are removed first. A value's read is
/// recorded once an hour at most, so reading rarely causes a write.
///
/// A failure of the cache never reaches the caller: a value that can't be read counts as missing.
/// ``init(db:config:table:onError:)`` takes a closure that is called for every failure.
public actor DiskCache<Value: Codable & Sendable> {
    /// Called for every failure, with a code such as ``StorageError/Code/cacheReadFailed``.
    public typealias ErrorHandler = @Sendable (StorageError) -> Void

    private let db: DatabaseActor
    private let config: StorageConfig
    private let table: String
    private let onError: ErrorHandler?
    private static var noteIntervalSeconds: Double { 3_600 }

    /// Creates a cache in a table that the schema declares with ``Schema/addKVCache(tableName:)``.
    ///
    /// - Parameters:
    ///   - config: The lifetime of values, the quota, the encoders and the decoders.
    ///   - onError: Called for every failure.
    public init(
        db: DatabaseActor, config: StorageConfig = StorageConfig(), table: String = "kv_cache",
        onError: ErrorHandler? = nil
    ) {
        self.db = db
        self.config = config
        self.table = quoted(table)
        self.onError = onError
    }

    /// Returns the value of a key; nil if there is none, it has expired, or it can't be read.
    public func get(_ key: String) async -> Value? {
        let now = config.clock.now
        let sql = "SELECT blob, updatedAt FROM \(table) WHERE key = ? AND (expiresAt IS NULL OR expiresAt > ?)"
        let found: (data: Data, used: Date)?
        do {
            found = try await db.read { db in
                try GRDB.Row.fetchOne(db, sql: sql, arguments: [Self.stored(key), now.storageValue]).map {
                    ($0["blob"], $0["updatedAt"])
                }
            }
        } catch {
            report(.cacheReadFailed, "The cached value of \"\(key)\" can't be read.", cause: error)
            return nil
        }
        guard let found else { return nil }
        if now.timeIntervalSince(found.used) > Self.noteIntervalSeconds {
            await run("UPDATE \(table) SET updatedAt = ? WHERE key = ?", [now.storageValue, Self.stored(key)])
        }
        do {
            return try config.makeDecoder().decode(Value.self, from: found.data)
        } catch {
            report(.cacheDecodingFailed, "The cached value of \"\(key)\" isn't a \(Value.self).", cause: error)
            await remove(key)
            return nil
        }
    }

    /// Stores a value, replacing the key's earlier one.
    ///
    /// - Parameter ttl: The value's lifetime; the configuration's if nil, unlimited if 0.
    public func set(_ value: Value, for key: String, ttl: TTL? = nil) async {
        let data: Data
        do {
            data = try config.makeEncoder().encode(value)
        } catch {
            return report(.cacheEncodingFailed, "A \(Value.self) can't be cached as \"\(key)\".", cause: error)
        }
        let now = config.clock.now
        let seconds = (ttl ?? config.defaultTTL).seconds
        // GRDB gives NaN for a time beyond what a date can hold; that becomes NULL, which never expires.
        let expires = seconds > 0 ? (now + seconds).storageValue : .null
        let quota = config.diskQuotaBytes
        let table = table
        await write(key) { db in
            try db.execute(
                sql: """
                    INSERT INTO \(table)(key, blob, updatedAt, expiresAt, size) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT(key) DO UPDATE SET blob = excluded.blob, updatedAt = excluded.updatedAt,
                      expiresAt = excluded.expiresAt, size = excluded.size
                    """, arguments: [Self.stored(key), data, now.storageValue, expires, data.count])
            try Self.prune(table, to: quota, at: now, in: db)
        }
    }

    /// Removes the value of a key, if there is one.
    ///
    /// ```swift
    /// await cache.remove("weather-kyiv")
    /// ```
    public func remove(_ key: String) async { await run("DELETE FROM \(table) WHERE key = ?", [Self.stored(key)]) }
    /// Removes all values from the table.
    ///
    /// ```swift
    /// await cache.removeAll()
    /// ```
    public func removeAll() async { await run("DELETE FROM \(table)", []) }

    /// Removes expired values.
    ///
    /// ```swift
    /// await cache.pruneExpired()
    /// ```
    public func pruneExpired() async {
        await run("DELETE FROM \(table) WHERE expiresAt <= ?", [config.clock.now.storageValue])
    }

    /// Removes expired values first, then the least recently used, until the rest fits.
    private static func prune(_ table: String, to quota: Int, at now: Date, in db: Database) throws {
        var size = try Int.fetchOne(db, sql: "SELECT total(size) FROM \(table)") ?? 0
        guard size > quota else { return }
        try db.execute(sql: "DELETE FROM \(table) WHERE expiresAt <= ?", arguments: [now.storageValue])
        size = try Int.fetchOne(db, sql: "SELECT total(size) FROM \(table)") ?? 0
        guard size > quota else { return }
        var evicted: [DatabaseValue] = []
        let oldest = try GRDB.Row.fetchCursor(db, sql: "SELECT key, size FROM \(table) ORDER BY updatedAt, key")
        while size > quota, let row = try oldest.next() {
            evicted.append(row["key"])
            size -= row["size"] as Int
        }
        for key in evicted { try db.execute(sql: "DELETE FROM \(table) WHERE key = ?", arguments: [key]) }
    }

    /// The key as the table has it. A text ends at a NUL character for GRDB, so that two keys could be one.
    private static func stored(_ key: String) -> DatabaseValue {
        key.utf8.contains(0) ? Data(key.utf8).databaseValue : key.databaseValue
    }

    private func run(_ sql: String, _ arguments: StatementArguments) async {
        await write(sql) { try $0.execute(sql: sql, arguments: arguments) }
    }

    private func write(_ what: String, _ body: @escaping @Sendable (Database) throws -> Void) async {
        do {
            try await db.write(body)
        } catch {
            report(.cacheWriteFailed, "The cache can't be changed (\(what)).", cause: error)
        }
    }

    private func report(_ code: StorageError.Code, _ message: String, cause: any Error) {
        onError?(StorageError(code, message, remedy: "The value is treated as not cached.", cause: cause))
    }
}
