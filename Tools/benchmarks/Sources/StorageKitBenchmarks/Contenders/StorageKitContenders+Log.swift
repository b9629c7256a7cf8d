import Foundation
import GRDB
import StorageKit

/// The log itself: its size, and the ways through it.
extension StorageKitContenders {
    static func logSize(rows: Int, updates: Int) -> [Contender] {
        let generator = PersonGenerator(seed: 3)
        return [
            Contender(
                ContenderName.storageKit,
                prepare: { workspace in
                    let store = try StorageKitStore(workspace.path("storage.sqlite"))
                    try await store.storage.save(generator.people(rows).map(StoredPerson.init))
                    try await store.storage.seal()
                    return store
                },
                run: { store in
                    let before = try await store.logBytes()
                    for version in 1...max(1, updates / rows) {
                        try await store.storage.save(generator.people(rows, version: version).map(StoredPerson.init))
                    }
                    try await store.storage.seal()
                    let grown = try await store.logBytes() - before
                    return [Metric(name: BenchmarkCatalog.logBytesMetric, value: Double(grown) / Double(updates))]
                }, cleanup: { try await $0.close() })
        ]
    }

    static func replay(_ log: LargeLog) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit, prepare: { try await StorageKitStore(largeLog: log, in: $0) },
                run: { store in
                    try await store.decodeAll(expecting: log.events)
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    static func rowHistory(_ log: LargeLog, lookUps: Int) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit, prepare: { try await StorageKitStore(largeLog: log, in: $0) },
                run: { store in
                    for key in log.keysToLookUp(lookUps) {
                        let versions = try await store.storage.history(StoredPerson.self, id: key).count
                        guard versions == log.versions else { throw BenchmarkError("\(key) has \(versions) versions.") }
                    }
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    static func open(_ log: LargeLog) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit,
                prepare: { workspace in try await StorageKitStore.largeLogPath(log, in: workspace) },
                run: { path in
                    let store = try StorageKitStore(path)
                    _ = try await store.storage.get(StoredPerson.self, id: log.generator.key(0))
                    try await store.close()
                    return []
                })
        ]
    }

    /// The whole table at a point in the middle of its history, where undoing and replaying have equally far to go, and
    /// near its end.
    static func asOf(rows: Int, events: Int) -> [Contender] {
        let log = LargeLog(events: events, versions: events / rows)
        // The table's declaration is an event too, so points are counted from the end.
        let points = [(ContenderName.storageKit, events / 2), ("\(ContenderName.storageKit), 1,000 events ago", 1_000)]
        return points.map { name, eventsAgo in
            Contender(
                name,
                prepare: { try await StorageKitStore(largeLog: log, in: $0) },
                run: { store in
                    let past = try await store.storage.asOf(.position(store.storage.head - Int64(eventsAgo)))
                    let count = try await past.count(StoredPerson.self)
                    guard count == log.rows else {
                        throw BenchmarkError("There were \(count) rows instead of \(log.rows).")
                    }
                    return []
                }, cleanup: { try await $0.close() })
        }
    }

    static let randomAsOfNames = (
        middleSum: "StorageKit, sum in the middle", middleCount: "StorageKit, count in the middle",
        recentCount: "StorageKit, count 10 commits back"
    )

    /// A large table whose rows were changed in random order.
    static func asOf(_ log: RandomLog) -> [Contender] {
        func contender(
            _ name: String, _ point: @escaping @Sendable (Storage) -> StoragePoint,
            check: @escaping @Sendable (StorageSnapshot) async throws -> Bool
        ) -> Contender {
            Contender(
                name,
                prepare: { workspace in
                    let path = try await StorageKitStore.randomLogPath(log, in: workspace)
                    return try StorageKitStore(path)
                },
                run: { store in
                    let start = ContinuousClock.now
                    let past = try await store.storage.asOf(point(store.storage))
                    guard try await check(past) else { throw BenchmarkError("\(name): the answer is wrong.") }
                    return [
                        Metric(
                            name: BenchmarkCatalog.asOfMetric, value: (ContinuousClock.now - start) / .milliseconds(1))
                    ]
                }, cleanup: { try await $0.close() })
        }
        // The table's declaration is an event too, so places are counted from the end.
        let middle = log.events / 2
        let inTheMiddle: @Sendable (Storage) -> StoragePoint = { .position($0.head - Int64(log.events - middle)) }
        let ages = log.sumOfAges(after: middle)
        let isCounted: @Sendable (StorageSnapshot) async throws -> Bool = {
            try await $0.count(StoredPerson.self) == log.rows
        }
        return [
            contender(randomAsOfNames.middleSum, inTheMiddle) {
                try await $0.query(StoredPerson.self).sum(\.age) == ages
            },
            contender(randomAsOfNames.middleCount, inTheMiddle, check: isCounted),
            contender(randomAsOfNames.recentCount, { _ in .before(.head, commits: 10) }, check: isCounted),
        ]
    }

    /// - Parameter compressedBytes: What `zstd -19` makes of the history.
    static func logSize(ofHistoryAt path: String, compressedBytes: Int) -> Contender {
        Contender(
            ContenderName.storageKit,
            prepare: { _ in try DatabaseQueue(path: path, configuration: .readOnly) },
            run: { database in
                func bytes(_ condition: String) async throws -> Double {
                    try await database.read { db in
                        try Double.fetchOne(db, sql: "SELECT sum(pgsize) FROM dbstat WHERE \(condition)") ?? 0
                    }
                }
                let log = try await bytes("name = 'storage_log'")
                let all = try await bytes("name GLOB 'storage_*' OR name GLOB 'sqlite_autoindex_storage_*'")
                return [
                    Metric(name: "log bytes", value: log),
                    Metric(name: "bytes of `zstd -19`", value: Double(compressedBytes)),
                    Metric(name: BenchmarkCatalog.logRatioMetric, value: log / Double(compressedBytes)),
                    Metric(name: BenchmarkCatalog.storageRatioMetric, value: all / Double(compressedBytes)),
                ]
            }, cleanup: { try $0.close() })
    }

    /// Decoding everything, then rebuilding the table from it.
    static func peakMemory(_ log: LargeLog) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit, prepare: { try await StorageKitStore(largeLog: log, in: $0) },
                run: { store in
                    try await store.decodeAll(expecting: log.events)
                    try await store.storage.rebuild()
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }
}

extension StorageKitStore {
    /// Bytes of the pages that hold the log, tombstones included.
    func logBytes() async throws -> Int {
        try await storage.read { db in
            try Int.fetchOne(
                db, sql: "SELECT sum(pgsize) FROM dbstat WHERE name IN ('storage_log', 'storage_tombstone')") ?? 0
        }
    }

    func decodeAll(expecting events: Int) async throws {
        let counter = Counter()
        try await storage.log.forEachBatch { batch in
            counter.add(batch.count)
            return true
        }
        guard counter.value >= events else { throw BenchmarkError("The log has \(counter.value) events only.") }
    }

    static func versionedLogPath(_ log: VersionedLog, in workspace: Workspace) async throws -> String {
        try await sharedPath("versioned-log-\(log.events)-\(log.versions)", in: workspace) { store in
            try await log.forEachCommit { people in try await store.storage.save(people.map(StoredPerson.init)) }
        }
    }

    init(largeLog log: LargeLog, in workspace: Workspace) async throws {
        try await self.init(Self.largeLogPath(log, in: workspace))
    }

    static func largeLogPath(_ log: LargeLog, in workspace: Workspace) async throws -> String {
        try await sharedPath("large-log-\(log.events)-\(log.versions)", in: workspace) { store in
            try await log.forEachBatch { people in try await store.storage.save(people.map(StoredPerson.init)) }
        }
    }

    static func randomLogPath(_ log: RandomLog, in workspace: Workspace) async throws -> String {
        try await sharedPath("random-log-\(log.events)", in: workspace) { store in
            try await log.forEachCommit { people in try await store.storage.save(people.map(StoredPerson.init)) }
        }
    }

    /// The path of a sealed store that is filled once for all runs.
    private static func sharedPath(
        _ name: String, in workspace: Workspace, fill: (StorageKitStore) async throws -> Void
    ) async throws -> String {
        let folder = try await workspace.sharedDirectory(name) { folder in
            let store = try StorageKitStore(folder.appendingPathComponent("storage.sqlite").path)
            try await fill(store)
            try await store.storage.seal()
            try await store.close()
        }
        return folder.appendingPathComponent("storage.sqlite").path
    }
}

extension Configuration {
    fileprivate static var readOnly: Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        return configuration
    }
}
