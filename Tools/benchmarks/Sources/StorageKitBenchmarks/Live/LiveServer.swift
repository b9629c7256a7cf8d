import Foundation
import StorageKit
import Synchronization

/// A server: live queries of many users, each bounded by a scope, followed without a main actor while one writer commits.
enum LiveServer {
    @StorageEntity(table: "orders")
    struct Order: Equatable {
        var id: Int
        var userId: Int
        var state: Int
        var total: Int
    }

    static let queriesOfAUser = 10
    private static let ordersOfAUser = 50
    static let memoryMetric = "KB of memory per query"
    static let wrongMetric = "wrong rows at the end"
    static let differencesMetric = "differences applied"

    /// What each reader has, and how many differences it took.
    private final class Results: Sendable {
        private struct State {
            var rows: [[Order]?]
            var openCount = 0
            var differenceCount = 0
        }

        private let state: Mutex<State>

        init(_ count: Int) { state = Mutex(State(rows: Array(repeating: nil, count: count))) }

        func apply(_ difference: ListDifference<Order>, to query: Int) {
            state.withLock { state in
                var rows = state.rows[query] ?? []
                if state.rows[query] == nil { state.openCount += 1 } else { state.differenceCount += 1 }
                state.rows[query] = nil
                difference.apply(to: &rows)
                state.rows[query] = rows
            }
        }

        var openCount: Int { state.withLock { $0.openCount } }
        var differenceCount: Int { state.withLock { $0.differenceCount } }
        func rows(_ query: Int) -> [Order]? { state.withLock { $0.rows[query] } }
    }

    static func contender(users: Int, commits: Int) -> Contender {
        Contender(
            "\(ContenderName.storageKit), \(Format.count(users * queriesOfAUser)) queries of \(Format.count(users)) users",
            prepare: { try await open($0, users: users) },
            run: { (storage: Storage) in try await run(storage, users: users, commits: commits) },
            cleanup: { try await $0.close() })
    }

    private static func query(_ storage: Storage, _ number: Int) -> ScopedQuery<Order> {
        let (user, kind) = (number / queriesOfAUser, number % queriesOfAUser)
        let mine = storage.scoped { scope in scope.allow(Order.self) { $0.userId == user } }
        return mine.query(Order.self).where { $0.state == kind % 5 }
            .orderBy(\.total, kind < 5 ? .ascending : .descending).limit(10)
    }

    private static func run(_ storage: Storage, users: Int, commits: Int) async throws -> [Metric] {
        let count = users * queriesOfAUser
        let results = Results(count)
        let before = ResidentMemory.current() ?? 0
        let readers = (0..<count).map { number in
            Task.detached {
                for try await difference in query(storage, number).live().differences {
                    results.apply(difference, to: number)
                }
            }
        }
        defer { for reader in readers { reader.cancel() } }
        while results.openCount < count { try await Task.sleep(for: .milliseconds(10)) }
        let memory = ((ResidentMemory.current() ?? before) - before) / 1_024 / Double(count)
        var generator = SplitMix64(seed: 7)
        for commit in 0..<commits {
            let user = Int(generator.next() % UInt64(users))
            let id = user * ordersOfAUser + Int(generator.next() % UInt64(ordersOfAUser))
            try await storage.save(
                Order(id: id, userId: user, state: Int(generator.next() % 5), total: commit))
        }
        let start = ContinuousClock.now
        var wrong = 0
        for number in 0..<count {
            let fresh = try await query(storage, number).fetch()
            while results.rows(number) != fresh, ContinuousClock.now - start < .seconds(60) {
                try await Task.sleep(for: .milliseconds(1))
            }
            if results.rows(number) != fresh { wrong += 1 }
        }
        return [
            Metric(name: memoryMetric, value: memory),
            Metric(name: differencesMetric, value: Double(results.differenceCount)),
            Metric(name: wrongMetric, value: Double(wrong)),
        ]
    }

    private static func open(_ workspace: Workspace, users: Int) async throws -> Storage {
        var configuration = StorageConfig()
        configuration.durability = .normal
        let url = URL(fileURLWithPath: workspace.path("storage.sqlite"))
        let storage = try StorageKit.start(at: url, config: configuration) { schema in
            schema.autoSchema(OrderRecord.self)
            schema.migration("indexes") { db in
                try db.create(index: "orders_user", on: "orders", columns: ["userId", "state", "total"])
            }
        }.facade
        for user in 0..<users {
            try await storage.save(
                (0..<ordersOfAUser).map {
                    Order(id: user * ordersOfAUser + $0, userId: user, state: $0 % 5, total: $0)
                })
        }
        return storage
    }
}
