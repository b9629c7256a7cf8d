import Foundation
import PredicateTestSupport
import StorageKit
import StorageTesting
import Testing

@testable import StorageSync

@StorageEntity
struct Parcel: DataSyncModelProtocol, Equatable {
    var id: String
    var title: String
    var priority: Int
}

/// Any order of refreshes, edits, writes that wait to be sent, and failures leaves what a plain model says, however the remote
/// answers.
@MainActor @Suite struct RefreshModelTests {
    /// How the remote is asked.
    enum Shape: CaseIterable { case whole, pages, validated, filtered }
    enum Merge: CaseIterable { case replace, upsert, append }

    private static var seeds: Range<UInt64> {
        let count = ProcessInfo.processInfo.environment["STORAGEKIT_TEST_SCALE"].flatMap { Double($0) } ?? 1
        return 0..<UInt64(max(6 * count, 2))
    }

    /// A store whose parcels a sync engine sends. The engine does nothing by itself.
    private struct Depot {
        let container: PersistenceContainer
        let remote = RemoteRows<Parcel>()
        let sync: SyncStore<Parcel>
        var state: SyncStore<Parcel>.State
        /// What the engine has found in the log and not sent.
        var pending: [PendingWrite] = []

        var storage: Storage { container.storage }

        @MainActor init() async throws {
            container = try .inMemory(config: StorageConfig(clock: ManualClock())) { $0.autoSchema(ParcelRecord.self) }
            sync = SyncStore(storage: container.storage, manager: "depot", path: "parcels")
            state = try await sync.activate()
        }

        /// The engine reads the log.
        mutating func scan() async throws {
            state = try await sync.save(SyncTransaction(record: state.row.record), after: state)
            pending += state.rows
        }

        /// The engine reads the log, sends what it has found, and the remote confirms it.
        mutating func send() async throws {
            try await scan()
            var transaction = SyncTransaction(record: state.row.record)
            transaction.writes = pending.map {
                var write = $0
                // By a remote without positions.
                write.state = .confirmed(at: 0)
                return write
            }
            state = try await sync.save(transaction, after: state)
            pending = []
        }
    }

    @Test(arguments: Shape.allCases, Merge.allCases)
    func theStoreIsWhatTheModelSays(shape: Shape, merge: Merge) async throws {
        for seed in Self.seeds { try await run(seed, shape, merge) }
    }

    private func run(_ seed: UInt64, _ shape: Shape, _ merge: Merge) async throws {
        var random = PredicateGenerator(seed: seed)
        var depot = try await Depot()
        let source = Self.source(depot.remote, shape, merge)
        var model = Model(shape: shape, merge: merge)
        for step in 0..<60 {
            let parcel = Parcel(
                id: "\(Int.random(in: 0..<8, using: &random))", title: "\(step)",
                priority: .random(in: 0..<3, using: &random))
            switch Int.random(in: 0..<14, using: &random) {
            case 0, 1:
                try await depot.storage.save(parcel)
                model.save(parcel)
            case 2:
                try await depot.storage.delete(Parcel.self, id: parcel.id)
                model.delete(parcel.id)
            case 3, 4, 5:
                depot.remote.rows = depot.remote.rows.filter { $0.id != parcel.id } + [parcel]
            case 6:
                depot.remote.rows = depot.remote.rows.filter { $0.id != parcel.id }
            case 7:
                depot.remote.failure = RemoteRows<Parcel>.Failure()
                await #expect(throws: StorageError.self) { try await depot.container.refresh(source) }
                depot.remote.failure = nil
            case 8:
                // An edit while the request is on its way, and maybe what waited is sent meanwhile.
                let (fetched, kept) = (depot.remote.rows, model.unsent)
                depot.remote.hold()
                let (remote, container, count) = (depot.remote, depot.container, depot.remote.count)
                async let refresh: Void = container.refresh(source)
                try await eventually { remote.count > count }
                if Bool.random(using: &random) {
                    try await depot.send()
                    model.unsent = []
                }
                model.changed = []
                if Bool.random(using: &random) {
                    try await depot.storage.delete(Parcel.self, id: parcel.id)
                    model.delete(parcel.id)
                } else {
                    try await depot.storage.save(parcel)
                    model.save(parcel)
                }
                depot.remote.release()
                try await refresh
                model.take(fetched, except: kept.union(model.changed))
            case 9: try await depot.scan()
            case 10:
                try await depot.send()
                model.unsent = []
            default:
                try await depot.container.refresh(source)
                model.take(depot.remote.rows, except: model.unsent)
            }
            let stored = try await depot.storage.query(Parcel.self).orderBy(\.id).fetch()
            #expect(stored == model.rows.values.sorted { $0.id < $1.id }, "seed \(seed), step \(step)")
        }
        // Fetched rows aren't sent anywhere.
        try await depot.scan()
        #expect(Set(depot.pending.map(\.document.id)) == model.unsent, "seed \(seed)")
        try await depot.storage.close()
    }

    private static func source(
        _ remote: RemoteRows<Parcel>, _ shape: Shape, _ merge: Merge
    ) -> QuerySource<Parcel> {
        let strategy: QueryMergeStrategy<Parcel> =
            switch merge {
            case .replace: .replace
            case .upsert: .upsert
            case .append: .append
            }
        let action = QueryRefreshAction(merge: strategy) { fetch in
            switch shape {
            case .whole: .rows(try await remote.all())
            case .pages: try await remote.page(fetch, size: 2)
            case .validated, .filtered: try await remote.validated(fetch)
            }
        }
        let all: QueryRequest<Parcel> = Parcel.all()
        let request = shape == .filtered ? all.filter(Parcel.Columns.priority > 0) : all
        return QuerySource(request, name: "model").remote(action).cache(.networkFirst)
    }

    /// What is in the store, and what of it waits to be sent.
    private struct Model {
        let shape: Shape
        let merge: Merge
        var rows: [String: Parcel] = [:]
        var unsent: Set<String> = []
        var changed: Set<String> = []

        mutating func save(_ parcel: Parcel) {
            rows[parcel.id] = parcel
            unsent.insert(parcel.id)
            changed.insert(parcel.id)
        }

        mutating func delete(_ id: String) {
            // What deletes nothing has changed nothing.
            guard rows.removeValue(forKey: id) != nil else { return }
            unsent.insert(id)
            changed.insert(id)
        }

        mutating func take(_ fetched: [Parcel], except kept: Set<String>) {
            for row in fetched where !kept.contains(row.id) {
                if merge == .append, rows[row.id] != nil { continue }
                rows[row.id] = row
            }
            guard merge == .replace else { return }
            let ids = Set(fetched.map(\.id))
            rows = rows.filter { id, row in
                ids.contains(id) || kept.contains(id) || shape == .filtered && row.priority == 0
            }
        }
    }
}
