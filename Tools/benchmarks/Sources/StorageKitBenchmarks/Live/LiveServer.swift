import Foundation
import StorageKit

/// A server: live queries of many users, each bounded by a scope, followed without a main actor while one writer commits.
enum LiveServer {
    @StorageEntity(table: "orders")
    struct Order: Hashable {
        var id: Int
        var userId: Int
        var state: Int
        var total: Int
    }

    static let queriesOfAUser = 10
    private static let ordersOfAUser = 50
    private static let states = 5
    private static let limit = 10
    static let memoryMetric = "KB a query"
    static let peakMetric = "KB a query at the peak of opening"
    static let wrongMetric = "wrong states"
    static let missingMetric = "lists not up to date at the end"

    static func contender(users: Int, commits: Int) -> Contender {
        Contender(
            name(users: users), prepare: { try await open($0, users: users) },
            run: { (storage: Storage) in try await run(storage, users: users, commits: commits) },
            cleanup: { try await $0.close() })
    }

    static func name(users: Int) -> String {
        "\(ContenderName.storageKit), \(Format.count(users * queriesOfAUser)) queries of \(Format.count(users)) users"
    }

    private static func query(_ storage: Storage, _ number: Int) -> ScopedQuery<Order> {
        let (user, kind) = (number / queriesOfAUser, number % queriesOfAUser)
        let mine = storage.scoped { scope in scope.allow(Order.self) { $0.userId == user } }
        return mine.query(Order.self).where { $0.state == kind % states }
            .orderBy(\.total, kind < states ? .ascending : .descending).limit(limit)
    }

    /// What a query finds among the orders of its user, as a program would tell it.
    static func expected(_ orders: some Sequence<Order>, _ kind: Int) -> [Order] {
        let sorted = orders.filter { $0.state == kind % states }
            .sorted { kind < states ? $0.total < $1.total : $0.total > $1.total }
        return Array(sorted.prefix(limit))
    }

    /// No two orders of a user have the same total, so that there is one order only.
    private static func firstOrder(_ number: Int, of user: Int) -> Order {
        Order(id: user * ordersOfAUser + number, userId: user, state: number % states, total: number)
    }

    private static func run(_ storage: Storage, users: Int, commits: Int) async throws -> [Metric] {
        let count = users * queriesOfAUser
        let readings = LiveReadings(count)
        let before = ResidentMemory.restartPeak() ?? 0
        let opening = ContinuousClock.now
        let readers = (0..<count).map { number in
            Task.detached {
                for try await difference in query(storage, number).live().differences {
                    readings.apply(difference, to: number)
                }
            }
        }
        defer { for reader in readers { reader.cancel() } }
        while readings.openCount < count { try await Task.sleep(for: .milliseconds(10)) }
        let opened = ContinuousClock.now - opening
        let peak = ((ResidentMemory.peak() ?? before) - before) / 1_024 / Double(count)
        // Without what was freed meanwhile.
        let memory = ((ResidentMemory.restartPeak() ?? before) - before) / 1_024 / Double(count)

        let watch = await MainThreadWatch()
        let cpu = ProcessTime.cpuSeconds()
        let (written, seconds) = try await write(storage, users, commits)
        let (start, late) = (ContinuousClock.now, readings.differenceCount)
        let missing = try await settle(storage, readings, count: count)
        let behind = ContinuousClock.now - start
        let spent = (ProcessTime.cpuSeconds() - cpu) * 1_000_000 / Double(commits)
        let stay = await watch.stop()

        var orders = Dictionary(
            uniqueKeysWithValues: (0..<users).map { user in
                let first = (0..<ordersOfAUser).map { firstOrder($0, of: user) }
                return (user, Dictionary(uniqueKeysWithValues: first.map { ($0.id, $0) }))
            })
        let wrong = readings.wrongStates(of: written, startingFrom: &orders)
        return [
            Metric(name: memoryMetric, value: memory), Metric(name: peakMetric, value: peak),
            Metric(name: "ms of opening a query", value: opened / .milliseconds(1) / Double(count)),
            Metric(name: "commits/s", value: Double(commits) / seconds),
            Metric(name: "CPU µs a commit", value: spent),
            Metric(name: "differences", value: Double(readings.differenceCount)),
            Metric(name: "of them after the last commit", value: Double(readings.differenceCount - late)),
            Metric(name: "ms until all are up to date, fresh queries included", value: behind / .milliseconds(1)),
            Metric(name: wrongMetric, value: Double(wrong)), Metric(name: missingMetric, value: Double(missing)),
        ] + stay
    }

    /// What was committed, and in how many seconds.
    private static func write(
        _ storage: Storage, _ users: Int, _ commits: Int
    ) async throws -> (written: [(position: Int64, order: Order)], seconds: Double) {
        var generator = SplitMix64(seed: 7)
        var written: [(position: Int64, order: Order)] = []
        let start = ContinuousClock.now
        for commit in 0..<commits {
            let user = Int(generator.next() % UInt64(users))
            let id = user * ordersOfAUser + Int(generator.next() % UInt64(ordersOfAUser))
            let order = Order(
                id: id, userId: user, state: Int(generator.next() % UInt64(states)), total: ordersOfAUser + commit)
            written.append((try await storage.save(order).position, order))
        }
        return (written, (ContinuousClock.now - start) / .seconds(1))
    }

    /// - Returns: How many lists differ from a fresh query after a minute.
    private static func settle(_ storage: Storage, _ readings: LiveReadings, count: Int) async throws -> Int {
        let start = ContinuousClock.now
        var missing = 0
        for number in 0..<count {
            let fresh = try await query(storage, number).fetch()
            while readings.rows(number) != fresh, ContinuousClock.now - start < .seconds(60) {
                try await Task.sleep(for: .milliseconds(1))
            }
            if readings.rows(number) != fresh { missing += 1 }
        }
        return missing
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
            try await storage.save((0..<ordersOfAUser).map { firstOrder($0, of: user) })
        }
        try await storage.seal()
        return storage
    }
}
