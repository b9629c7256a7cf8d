import Foundation
import PredicateTestSupport
import StorageEntities
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageSync

@StorageEntity
struct Parcel: DataSyncModelProtocol, Equatable {
    var id: String
    var title: String
    var priority: Int
}

/// Any order of refreshes, openings, edits, writes that wait to be sent, failures, refusals, moves of the clock in both directions and
/// restarts leaves what a plain model says, under each policy and however the remote answers.
///
/// `STORAGEKIT_TEST_SCALE` multiplies the seeds.
@MainActor @Suite struct RefreshModelTests {
    /// How the remote is asked: for all rows at once, page by page, for what is new, for some of the rows, or for a window of them.
    enum Shape: CaseIterable { case whole, pages, validated, filtered, window }
    enum Merge: CaseIterable { case replace, upsert, append, closure }

    private static let pageSize = 2
    /// The window of ``Shape/window``, in the order of priorities.
    nonisolated private static let (limit, offset) = (3, 1)
    nonisolated private static let ageSeconds = 60.0

    private static var seedCount: UInt64 { UInt64(max(testScale, 1)) }

    nonisolated private static let policies: [QueryCachePolicy] = [
        .localOnly, .cacheFirst(ttl: .seconds(ageSeconds)), .staleWhileRevalidate(staleAfter: .seconds(ageSeconds)),
        .networkFirst, .networkOnly,
    ]

    /// A store whose parcels a sync engine sends. The engine does nothing by itself.
    private struct Depot {
        private let folder: TemporaryFolder
        private(set) var container: PersistenceContainer
        let clock = ManualClock()
        let remote = RemoteRows<Parcel>()
        private var sync: SyncStore<Parcel>
        private var state: SyncStore<Parcel>.State
        /// What the engine has found in the log and not sent.
        private(set) var pending: [PendingWrite] = []

        var storage: Storage { container.storage }

        @MainActor init() async throws {
            folder = try TemporaryFolder()
            container = try Self.open(folder.url, clock)
            sync = Self.sync(container)
            state = try await sync.activate()
        }

        private static func open(_ folder: URL, _ clock: ManualClock) throws -> PersistenceContainer {
            // A loss of power isn't among the steps.
            try .file(
                at: folder.appendingPathComponent("depot.sqlite"), config: .init(durability: .normal, clock: clock)
            ) { $0.autoSchema(ParcelRecord.self) }
        }

        private static func sync(_ container: PersistenceContainer) -> SyncStore<Parcel> {
            SyncStore(storage: container.storage, manager: "depot", path: "parcels")
        }

        /// The program ends and begins again.
        @MainActor mutating func restart() async throws {
            try await storage.close()
            container = try Self.open(folder.url, clock)
            sync = Self.sync(container)
            state = try await sync.activate()
            // Those that the remote has are kept for some time.
            pending = state.rows.filter { !$0.isConfirmed }
        }

        func close() async throws { try await storage.close() }

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

    @Test("The store equals the model", arguments: Shape.allCases, Merge.allCases)
    func storeEqualsModel(shape: Shape, merge: Merge) async throws {
        let combinations = UInt64(Shape.allCases.count * Merge.allCases.count)
        let place = Shape.allCases.firstIndex(of: shape)! * Merge.allCases.count + Merge.allCases.firstIndex(of: merge)!
        for seed in 0..<Self.seedCount { try await run(seed * combinations + UInt64(place), shape, merge) }
    }

    private func run(_ seed: UInt64, _ shape: Shape, _ merge: Merge) async throws {
        var random = PredicateGenerator(seed: seed)
        let policy = Self.policies.randomElement(using: &random)!
        var depot = try await Depot()
        let (remote, clock) = (depot.remote, depot.clock)
        let source = Self.source(remote, shape, merge, policy)
        var model = Model(shape: shape, merge: merge, policy: policy)
        for step in 0..<80 {
            let container = depot.container
            let place = Comment("seed \(seed), step \(step), \(policy)")
            let parcel = Parcel(
                id: "\(Int.random(in: 0..<8, using: &random))", title: "\(step)",
                priority: .random(in: 0..<3, using: &random))
            switch Int.random(in: 0..<20, using: &random) {
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
                let isRefusal = Bool.random(using: &random)
                // What says nothing of another try, too.
                let isPlain = !isRefusal && Bool.random(using: &random)
                remote.failure =
                    isPlain ? CancellationError() : RemoteRows<Parcel>.Failure(isRefusal: isRefusal)
                await #expect(throws: StorageError.self) { try await container.refresh(source) }
                remote.failure = nil
                model.fail(isRefusal: isRefusal)
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
                    model.fail()
                }
                remote.failsBetweenPages = false
            case 12, 13: clock.advance(by: .seconds(.random(in: 1...40, using: &random)))
            case 14:
                // The clock is set: a little back or forth, or by days.
                clock.advance(by: .seconds([-200_000, -30, 30, 200_000].randomElement(using: &random)!))
            case 15, 16:
                try await look(at: source, depot, &model, fails: .random(using: &random), place)
            case 17:
                try await depot.restart()
                model.restart()
            case 18:
                container.credentialsChanged()
                model.isRefusedHere = false
            default:
                try await container.refresh(source)
                model.take(remote.rows, except: model.unsent, at: clock.now)
            }
            let stored = try await depot.storage.query(Parcel.self).orderBy(\.id).fetch()
            #expect(stored == model.rows.values.sorted { $0.id < $1.id }, place)
            let status = try await depot.storage.querySourceStatuses().first
            #expect(status?.lastRefresh == model.lastRefresh, place)
            #expect(status?.failures ?? 0 == model.failures, place)
            #expect(status?.isRefused ?? false == model.isRefused, place)
        }
        // Fetched rows aren't sent anywhere.
        try await depot.scan()
        #expect(Set(depot.pending.map(\.document.id)) == model.unsent, "seed \(seed)")
        try await depot.close()
    }

    /// Somebody shows the source: the remote is asked where the policy says so.
    private func look(
        at source: QuerySource<Parcel>, _ depot: Depot, _ model: inout Model, fails: Bool, _ place: Comment
    ) async throws {
        let (remote, now) = (depot.remote, depot.clock.now)
        let retryTime = try await depot.storage.querySourceStatuses().first?.retryTime
        let asks = model.asks(at: now, retryTime: retryTime)
        let count = remote.count
        remote.failure = fails ? RemoteRows<Parcel>.Failure() : nil
        let results = depot.container.results(of: source)
        await results.waitUntilRefreshed()
        remote.failure = nil
        #expect((remote.count > count) == asks, place)
        if asks, fails { model.fail() }
        if asks, !fails { model.take(remote.rows, except: model.unsent, at: now) }
        let isHidden = source.policy == .networkOnly && (!asks || fails)
        #expect(results.items.sorted { $0.id < $1.id } == (isHidden ? [] : model.shown), place)
        #expect(results.isStale == model.isStale(at: now), place)
        #expect((results.error != nil) == (model.failures > 0), place)
        #expect(results.lastRefreshTime == model.lastRefresh, place)
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
        _ remote: RemoteRows<Parcel>, _ shape: Shape, _ merge: Merge, _ policy: QueryCachePolicy
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
        return QuerySource(request, name: "model").remote(action).cache(policy)
    }

    /// What is in the store, what of it waits to be sent, how old it is, and what the remote has answered last.
    private struct Model {
        let shape: Shape
        let merge: Merge
        let policy: QueryCachePolicy
        var rows: [String: Parcel] = [:]
        var unsent: Set<String> = []
        var changed: Set<String> = []
        var lastRefresh: Date?
        var failures = 0
        var isRefused = false
        /// Whether the remote has refused what this run of the program has asked it, with the credentials of now.
        var isRefusedHere = false

        init(shape: Shape, merge: Merge, policy: QueryCachePolicy) {
            (self.shape, self.merge, self.policy) = (shape, merge, policy)
        }

        func isStale(at now: Date) -> Bool {
            // A time that lies ahead is that of a clock which was set back.
            let known = lastRefresh.flatMap { $0 <= now ? $0 : nil }
            return switch policy {
            case .localOnly: false
            case .cacheFirst, .staleWhileRevalidate: known.map { $0 + ageSeconds <= now } ?? true
            case .networkFirst, .networkOnly: known == nil || failures > 0
            }
        }

        /// Whether somebody who begins to look has the remote asked.
        func asks(at now: Date, retryTime: Date?) -> Bool {
            // Nobody waits for longer than a day, and the minute that chance may add.
            let waits = retryTime.map { $0 > now && $0 <= now + 86_460 } ?? false
            guard !waits, !isRefused || !isRefusedHere else { return false }
            return switch policy {
            case .localOnly: false
            case .cacheFirst, .staleWhileRevalidate: isStale(at: now)
            case .networkFirst, .networkOnly: true
            }
        }

        mutating func fail(isRefusal: Bool = false) {
            failures += 1
            (isRefused, isRefusedHere) = (isRefusal, isRefusal)
        }

        mutating func restart() { isRefusedHere = false }

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
            (isRefused, isRefusedHere) = (false, false)
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

        /// The rows of the query but for its window, in order.
        private var found: [Parcel] {
            rows.values.filter { shape != .filtered || $0.priority > 0 }.sorted(by: isBefore)
        }

        /// The rows of the query, by id.
        var shown: [Parcel] {
            let window = shape == .window ? found.dropFirst(offset).prefix(limit) : found[...]
            return window.sorted { $0.id < $1.id }
        }

        /// The rows that a complete answer speaks of.
        private func window(around fetched: Set<String>) -> [String] {
            let ids = found.map(\.id)
            guard shape == .window else { return ids }
            // Nothing is said of rows before the first of it, nor behind the last, unless there are fewer than were asked for.
            guard let first = ids.firstIndex(where: fetched.contains), let last = ids.lastIndex(where: fetched.contains)
            else { return [] }
            return Array(ids[first...(fetched.count >= limit ? last : ids.count - 1)])
        }
    }
}
