import Foundation
import StorageEntities
import StorageKit
import StorageSync
import StorageTesting
import Synchronization
import Testing

@StorageEntity
struct Chore: Equatable {
    var id: Int
    var title: String
    var priority: Int
}

typealias FakeRemote = RemoteRows<Chore>

/// A remote that answers with given rows, and counts requests.
final class RemoteRows<Row: Sendable>: Sendable {
    struct Failure: RetryableError {
        var retryAfter: Duration?
        var isRefusal = false
    }

    private struct State {
        var rows: [Row] = []
        var failure: (any Error)?
        var failsBetweenPages = false
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var requests: [QueryFetch] = []
        var cancellations = 0
    }

    private let state = Mutex(State())

    init(_ rows: [Row] = []) { self.rows = rows }

    var rows: [Row] {
        get { state.withLock { $0.rows } }
        set { state.withLock { $0.rows = newValue } }
    }
    var failure: (any Error)? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }
    /// Whether all requests fail that aren't for the first page.
    var failsBetweenPages: Bool {
        get { state.withLock { $0.failsBetweenPages } }
        set { state.withLock { $0.failsBetweenPages = newValue } }
    }
    var requests: [QueryFetch] { state.withLock { $0.requests } }
    var count: Int { requests.count }
    var cancellations: Int { state.withLock { $0.cancellations } }

    /// Requests wait from now on, until ``release()``.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func pass(_ fetch: QueryFetch) async throws {
        state.withLock { $0.requests.append(fetch) }
        await withCheckedContinuation { continuation in
            let passes = state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return !state.isHeld
            }
            if passes { continuation.resume() }
        }
        if Task.isCancelled { state.withLock { $0.cancellations += 1 } }
        try Task.checkCancellation()
        if let failure { throw failure }
        if failsBetweenPages, fetch.cursor != nil { throw Failure() }
    }

    /// All rows at once.
    func all() async throws -> [Row] {
        // What the remote has when the request comes in.
        let rows = rows
        try await pass(QueryFetch())
        return rows
    }

    /// So many rows a page; the cursor is the number of the first.
    func page(_ fetch: QueryFetch, size: Int) async throws -> QueryFetchAnswer<Row> {
        let rows = rows
        try await pass(fetch)
        let start = fetch.cursor.flatMap { Int($0) } ?? 0
        let end = min(start + size, rows.count)
        return .rows(Array(rows[start..<end]), next: end < rows.count ? "\(end)" : nil)
    }

    /// All rows, with a validator that says which they are.
    func validated(_ fetch: QueryFetch) async throws -> QueryFetchAnswer<Row> {
        let rows = rows
        try await pass(fetch)
        let validator = "\(rows)"
        return fetch.validator == validator ? .notModified : .rows(rows, validator: validator)
    }
}

/// A store with chores, a clock, and a remote.
struct Household {
    let clock = ManualClock()
    let remote = FakeRemote()
    let container: PersistenceContainer

    var storage: Storage { container.storage }

    init(at url: URL? = nil) throws {
        let config = StorageConfig(clock: clock)
        container =
            if let url {
                try .file(at: url, config: config) { $0.autoSchema(ChoreRecord.self) }
            } else {
                try .inMemory(config: config) { $0.autoSchema(ChoreRecord.self) }
            }
    }

    func source(
        _ policy: QueryCachePolicy, merge: QueryMergeStrategy<Chore> = .replace, name: String = "chores"
    ) -> QuerySource<Chore> {
        QuerySource(Self.all, name: name).remote(merge: merge) { [remote] in try await remote.all() }.cache(policy)
    }

    static var all: QueryRequest<Chore> { Chore.all() }

    func stored() async throws -> [Chore] { try await storage.query(Chore.self).orderBy(\.id).fetch() }

    static func chore(_ id: Int, _ title: String = "", priority: Int = 0) -> Chore {
        Chore(id: id, title: title, priority: priority)
    }
}
