import StorageEntities
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// The reference's chapters on opening a store: each form of `start`, and what it sets.
@Suite struct ReferenceConfigurationTests {
    @StorageEntity
    struct Seedling {
        var id: String
        var name: String
    }

    private func tables(_ context: StorageKit.Context) async throws -> [String] {
        try await context.storage.pool.read { db in
            let sql = """
                SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'storage#_%' ESCAPE '#'
                AND name NOT LIKE 'sqlite#_%' ESCAPE '#' ORDER BY name
                """
            return try String.fetchAll(db, sql: sql)
        }
    }

    /// In a process of its own, whose user has another data folder: the test leaves nothing in that of the one who runs it.
    @Test("By default a store is in the user's data folder")
    func defaultLocation() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            setenv("XDG_DATA_HOME", folder.url.path, 1)
            setenv("HOME", folder.url.path, 1)
            let plain = try StorageKit.start()
            let named = try StorageKit.start(fileName: "garden.sqlite")
            let given = try StorageKit.start(fileName: "more.sqlite", cacheTTL: .minutes(10), diskQuota: .megabytes(50))
            {
                schema in
                schema.addKVCache()
                schema.autoSchema(SeedlingRecord.self)
            }
            for context in [plain, named] {
                precondition(context.config.defaultTTL == 300 && context.config.diskQuotaBytes == 30 * 1_048_576)
                let isCache = try await context.storage.pool.read { db in try db.tableExists("kv_cache") }
                precondition(isCache)
            }
            precondition(given.config.defaultTTL == 600 && given.config.diskQuotaBytes == 50 * 1_048_576)
            try await given.facade.save(Seedling(id: "1", name: "Basil"))
            let files = FileManager.default.enumerator(atPath: folder.url.path)?.compactMap { $0 as? String } ?? []
            for name in ["app.sqlite", "garden.sqlite", "more.sqlite"] {
                precondition(files.contains { $0.hasSuffix(name) }, "\(files)")
            }
        }
    }

    @Test("A store is at the URL that is given")
    func storeAtURL() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.url.path).appendingPathComponent("garden.sqlite")
        let context = try StorageKit.start(at: url, cacheTTL: .hours(1), diskQuota: .gigabytes(1)) { schema in
            schema.autoSchema(SeedlingRecord.self)
        }
        #expect(context.config.defaultTTL == 3_600)
        #expect(context.config.diskQuotaBytes == 1 << 30)
        #expect(try await tables(context) == ["seedlings"])
        let storage = context.facade
        try await storage.save(Seedling(id: "1", name: "Basil"))
        try await storage.close()
        #expect(FileManager.default.fileExists(atPath: url.path))
        let again = try StorageKit.start(at: url)
        #expect(try await again.facade.get(Seedling.self, id: "1")?.name == "Basil")
        try await again.facade.close()
    }

    @Test("The cache's time and quota are given at the start")
    func cacheTimeAndQuota() throws {
        for (ttl, seconds) in [(TTL.minutes(1), 60.0), (.hours(1), 3_600), (.init(seconds: 0), 0)] {
            #expect(try StorageKit.inMemory(cacheTTL: ttl) { $0.addKVCache() }.config.defaultTTL.seconds == seconds)
        }
        for (quota, bytes) in [
            (Quota.megabytes(10), 10_485_760), (.gigabytes(1), 1_073_741_824), (.init(bytes: 50_000_000), 50_000_000),
        ] {
            #expect(try StorageKit.inMemory(diskQuota: quota) { $0.addKVCache() }.config.diskQuotaBytes == bytes)
        }
    }

    private struct StillClock: StorageClock {
        var now: Date
    }

    /// What the reference can't do: a configuration of one's own is handed to `start`, and its clock is that of the store.
    @Test("A configuration and its clock are passed to `start`")
    func configurationAtStart() async throws {
        let time = Date(timeIntervalSince1970: 1_000_000)
        let config = StorageConfig(defaultTTL: 7, clock: StillClock(now: time), namespace: "garden")
        let folder = try TemporaryFolder()
        let context = try StorageKit.start(at: URL(fileURLWithPath: folder.path("a.sqlite")), config: config) {
            schema in
            schema.addKVCache()
            schema.autoSchema(SeedlingRecord.self)
        }
        #expect(context.config.defaultTTL == 7)
        #expect(context.config.namespace == "garden")
        let receipt = try await context.facade.save(Seedling(id: "1", name: "Basil"))
        #expect(receipt.time == 1_000_000_000_000)
        let stamp = try await context.storage.pool.read { try SeedlingRecord.fetchOne($0)?.updatedAt }
        #expect(stamp == time)
        // What the call says goes before what the configuration says.
        let both = try StorageKit.inMemory(cacheTTL: .minutes(1), diskQuota: .init(bytes: 9), config: config)
        #expect(both.config.defaultTTL == 60)
        #expect(both.config.diskQuotaBytes == 9)
        #expect(both.config.namespace == "garden")
        try await context.facade.close()
    }

    /// One configuration says how the store is opened and what its caches are made with.
    @Test("One configuration says how the store is opened")
    func configurationInOneLine() async throws {
        let store = try TemporaryStore { $0.autoSchema(SeedlingRecord.self) }
        try await store.storage.save(Seedling(id: "1", name: "Basil"))
        let reader = try StorageKit.start(at: store.url, config: .init(isReadOnly: true, defaultTTL: .hours(2)))
        #expect(reader.config.isReadOnly)
        #expect(reader.config.defaultTTL == .seconds(7_200))
        #expect(try await reader.facade.get(Seedling.self, id: "1")?.name == "Basil")
        let refused = await #expect(throws: StorageError.self) {
            try await reader.facade.save(Seedling(id: "2", name: "Dill"))
        }
        #expect(refused?.code == .readOnly)
        try await reader.facade.close()
    }

    @Test("A store uses WAL and foreign keys, and readers don't wait")
    func journalAndForeignKeys() async throws {
        let store = try TemporaryStore { $0.autoSchema(SeedlingRecord.self) }
        let storage = store.storage
        let (mode, keys) = try await storage.read { db in
            (try String.fetchOne(db, sql: "PRAGMA journal_mode"), try Int.fetchOne(db, sql: "PRAGMA foreign_keys"))
        }
        #expect(mode == "wal")
        #expect(keys == 1)
        try await storage.save(Seedling(id: "1", name: "Basil"))
        // A read that is under way sees one state, and a write beside it goes through.
        let (go, gone) = AsyncStream.makeStream(of: Void.self)
        let wrote = DispatchSemaphore(value: 0)
        async let counts = storage.read { db in
            let before = try Int.fetchOne(db, sql: "SELECT count(*) FROM seedlings")
            gone.yield()
            wrote.wait()
            return [before, try Int.fetchOne(db, sql: "SELECT count(*) FROM seedlings")]
        }
        for await _ in go { break }
        try await storage.save(Seedling(id: "2", name: "Dill"))
        wrote.signal()
        #expect(try await counts == [1, 1])
        #expect(try await storage.count(Seedling.self) == 2)
    }
}
