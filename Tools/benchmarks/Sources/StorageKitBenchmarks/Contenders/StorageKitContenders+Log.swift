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
        let places = [
            (ContenderName.storageKit, events / 2), ("\(ContenderName.storageKit), 1,000 events ago", events - 1_000),
        ]
        return places.map { name, position in
            Contender(
                name,
                prepare: { try await StorageKitStore(largeLog: log, in: $0) },
                run: { store in
                    let past = try await store.storage.asOf(.position(Int64(position)))
                    let count = try await past.count(StoredPerson.self)
                    guard count == rows else { throw BenchmarkError("There were \(count) rows instead of \(rows).") }
                    return []
                }, cleanup: { try await $0.close() })
        }
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
