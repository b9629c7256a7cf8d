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

/// Any order of refreshes, openings, edits, writes that wait to be sent, failures, and moves of the clock leaves what a plain model says,
/// however the remote answers.
@MainActor @Suite struct RefreshModelTests {
    /// How the remote is asked: for all rows at once, page by page, for what is new, for some of the rows, or for a window of them.
    enum Shape: CaseIterable { case whole, pages, validated, filtered, window }
    enum Merge: CaseIterable { case replace, upsert, append, closure }

    private static let pageSize = 2
    /// The window of ``Shape/window``, in the order of priorities.
    nonisolated private static let (limit, offset) = (3, 1)
    nonisolated private static let ageSeconds = 60.0

    private static var seeds: Range<UInt64> {
        let count = ProcessInfo.processInfo.environment["STORAGEKIT_TEST_SCALE"].flatMap { Double($0) } ?? 1
        return 0..<UInt64(max(4 * count, 2))
    }

    /// A store whose parcels a sync engine sends. The engine does nothing by itself.
    private struct Depot {
        let container: PersistenceContainer
        let clock = ManualClock()
        let remote = RemoteRows<Parcel>()
        let sync: SyncStore<Parcel>
        var state: SyncStore<Parcel>.State
        /// What the engine has found in the log and not sent.
        var pending: [PendingWrite] = []

        var storage: Storage { container.storage }

        @MainActor init() async throws {
            container = try .inMemory(config: StorageConfig(clock: clock)) { $0.autoSchema(ParcelRecord.self) }
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
        let (container, remote, clock) = (depot.container, depot.remote, depot.clock)
        let source = Self.source(remote, shape, merge)
        var model = Model(shape: shape, merge: merge)
        for step in 0..<80 {
            let parcel = Parcel(
                id: "\(Int.random(in: 0..<8, using: &random))", title: "\(step)",
                priority: .random(in: 0..<3, using: &random))
            switch Int.random(in: 0..<18, using: &random) {
            case 0, 1:
                try await depot.storage.save(parcel)
                model.save(parcel)
            case 2:
                try await depot.storage.delete(Parcel.self, id: parcel.id)
                model.delete(parcel.id)
            case 3, 4, 5:
                remote.rows = remote.rows.filter { $0.id != parcel.id } + [parcel]
            case 6:
                remote.rows = remote.rows.filter { $0.id != parcel.id }
            case 7:
                remote.failure = RemoteRows<Parcel>.Failure()
                await #expect(throws: StorageError.self) { try await container.refresh(source) }
                remote.failure = nil
                model.failures += 1
            case 8:
                // An edit while the request is on its way, and maybe what waited is sent meanwhile.
                let (fetched, kept) = (remote.rows, model.unsent)
                remote.hold()
                let count = remote.count
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
                remote.release()
                try await refresh
                model.take(fetched, except: kept.union(model.changed), at: clock.now)
            case 9: try await depot.scan()
            case 10:
                try await depot.send()
                model.unsent = []
            case 11:
                // The first page comes, and no other.
                remote.failsBetweenPages = true
                let rest = shape == .pages ? remote.rows.dropFirst(Self.pageSize) : []
                if rest.isEmpty {
                    try await container.refresh(source)
                    model.take(remote.rows, except: model.unsent, at: clock.now)
                } else {
                    await #expect(throws: StorageError.self) { try await container.refresh(source) }
                    model.put(Array(remote.rows.dropLast(rest.count)), except: model.unsent)
                    model.failures += 1
                }
                remote.failsBetweenPages = false
            case 12, 13: clock.advance(seconds: .random(in: 1...40, using: &random))
            case 14, 15:
                // Somebody looks: the remote is asked if the rows are too old, and if it may be.
                let status = try await depot.storage.querySourceStatuses().first
                let asks = model.isOld(at: clock.now) && status?.retryTime.map { $0 <= clock.now } ?? true
                let count = remote.count
                _ = try await container.fetch(source)
                #expect((remote.count > count) == asks, "seed \(seed), step \(step)")
                if asks { model.take(remote.rows, except: model.unsent, at: clock.now) }
            default:
                try await container.refresh(source)
                model.take(remote.rows, except: model.unsent, at: clock.now)
            }
            let stored = try await depot.storage.query(Parcel.self).orderBy(\.id).fetch()
            #expect(stored == model.rows.values.sorted { $0.id < $1.id }, "seed \(seed), step \(step)")
            let status = try await depot.storage.querySourceStatuses().first
            #expect(status?.lastRefresh == model.lastRefresh, "seed \(seed), step \(step)")
            #expect(status?.failures ?? 0 == model.failures, "seed \(seed), step \(step)")
        }
        // Fetched rows aren't sent anywhere.
        try await depot.scan()
        #expect(Set(depot.pending.map(\.document.id)) == model.unsent, "seed \(seed)")
        try await depot.storage.close()
    }

    /// What is saved where a stored row meets a fetched one. Doing it twice changes nothing, as an answer that nothing is new does.
    nonisolated private static func merged(_ stored: Parcel?, _ fetched: Parcel) -> Parcel? {
        guard let stored else { return fetched.priority == 2 ? nil : fetched }
        return Parcel(id: fetched.id, title: fetched.title, priority: max(stored.priority, fetched.priority))
    }

    nonisolated private static func isBefore(_ one: Parcel, _ other: Parcel) -> Bool {
        (one.priority, one.id) < (other.priority, other.id)
    }

    private static func source(
        _ remote: RemoteRows<Parcel>, _ shape: Shape, _ merge: Merge
    ) -> QuerySource<Parcel> {
        let strategy: QueryMergeStrategy<Parcel> =
            switch merge {
            case .replace: .replace
            case .upsert: .upsert
            case .append: .append
            case .closure: .custom { merged($0, $1) }
            }
        let action = QueryRefreshAction(merge: strategy) { fetch in
            switch shape {
            case .whole, .window: .rows(try await remote.all())
            case .pages: try await remote.page(fetch, size: pageSize)
            case .validated, .filtered: try await remote.validated(fetch)
            }
        }
        let all: QueryRequest<Parcel> = Parcel.all()
        let request =
            switch shape {
            case .whole, .pages, .validated: all
            case .filtered: all.filter(Parcel.Columns.priority > 0)
            case .window: all.order(by: .priority).limit(limit).offset(offset)
            }
        return QuerySource(request, name: "model").remote(action).cache(.cacheFirst(ttl: .seconds(ageSeconds)))
    }

    /// What is in the store, what of it waits to be sent, and how old it is.
    private struct Model {
        let shape: Shape
        let merge: Merge
        var rows: [String: Parcel] = [:]
        var unsent: Set<String> = []
        var changed: Set<String> = []
        var lastRefresh: Date?
        var failures = 0

        func isOld(at now: Date) -> Bool { lastRefresh.map { $0 + ageSeconds <= now } ?? true }

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

        /// Takes an answer that is complete.
        mutating func take(_ fetched: [Parcel], except kept: Set<String>, at now: Date) {
            put(fetched, except: kept)
            (lastRefresh, failures) = (now, 0)
            guard merge == .replace else { return }
            let ids = Set(fetched.map(\.id))
            for id in window(around: ids) where !ids.contains(id) && !kept.contains(id) { rows[id] = nil }
        }

        /// Takes the rows of an answer.
        mutating func put(_ fetched: [Parcel], except kept: Set<String>) {
            for row in fetched where !kept.contains(row.id) {
                switch merge {
                case .replace, .upsert: rows[row.id] = row
                case .append: rows[row.id] = rows[row.id] ?? row
                case .closure: rows[row.id] = merged(rows[row.id], row) ?? rows[row.id]
                }
            }
        }

        /// The rows that a complete answer speaks of.
        private func window(around fetched: Set<String>) -> [String] {
            let ids = rows.values.filter { shape != .filtered || $0.priority > 0 }.sorted(by: isBefore).map(\.id)
            guard shape == .window else { return ids }
            // Nothing is said of rows before the first of it, nor behind the last, unless there are fewer than were asked for.
            guard let first = ids.firstIndex(where: fetched.contains), let last = ids.lastIndex(where: fetched.contains)
            else { return [] }
            return Array(ids[first...(fetched.count >= limit ? last : ids.count - 1)])
        }
    }
}
