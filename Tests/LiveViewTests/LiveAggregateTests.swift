import EntityTestSupport
import Foundation
import StorageEntities
import StorageKit
import StorageViews
import Testing

@StorageEntity(table: "live_orders")
struct LiveOrder: Equatable {
    var id: Int
    var customer: String?
    var total: Double
    var pieces: Int
    var status: Status

    enum Status: String, Codable, CaseIterable { case open, paid, sent }

    /// Not a column.
    var size: Size { pieces > 10 ? .large : .small }
    enum Size: Int, Comparable {
        case small, large
        static func < (left: Size, right: Size) -> Bool { left.rawValue < right.rawValue }
    }
}

@StorageEntity(table: "live_tallies")
struct LiveTally {
    var id: Int
    var small: Int8
}

/// Counts, sums and groups as their users see them.
@MainActor @Suite struct LiveAggregateTests {
    private let storage: Storage
    private let orders: AnyRepository<LiveOrder>

    init() throws {
        let context = try StorageKit.inMemory { $0.autoSchema(LiveOrderRecord.self) }
        storage = context.facade
        orders = context.repository(LiveOrder.self, record: LiveOrderRecord.self)
    }

    private func order(
        _ id: Int, _ customer: String?, _ total: Double = 1, pieces: Int = 1, _ status: LiveOrder.Status = .open
    ) -> LiveOrder { LiveOrder(id: id, customer: customer, total: total, pieces: pieces, status: status) }

    private func save(_ orders: LiveOrder...) async throws {
        await storage.waitForViews(through: try await storage.save(orders))
    }

    @Test("A count follows its query")
    func countFollowsQuery() async throws {
        try await save(order(1, "Ada"), order(2, "Bo", 1, .paid))
        let open = CountSubscription(storage.query(LiveOrder.self).where { $0.status == .open }, start: .immediate)
        #expect(open.count == 1)
        var differences = open.differences.makeAsyncIterator()
        let first = await differences.next()
        #expect(first?.old == nil)
        #expect(first?.new == 1)
        try await save(order(2, "Bo"), order(3, "Cy"))
        #expect(open.count == 3)
        let next = await differences.next()
        #expect(next?.old == 1)
        #expect(next?.new == 3)
        #expect(next?.position == open.position)
        await storage.waitForViews(through: try await storage.delete(LiveOrder.self, id: 1))
        #expect(try open.result.get() == 2)
        open.cancel()
        try await save(order(4, nil))
        #expect(open.count == 2)
    }

    @Test("A count with a limit counts its window")
    func countWithLimit() async throws {
        let two = CountSubscription(storage.query(LiveOrder.self).limit(2), start: .immediate)
        try await save(order(1, nil))
        #expect(two.count == 1)
        try await save(order(2, nil), order(3, nil))
        #expect(two.count == 2)
    }

    @Test("Aggregates have the types of their columns")
    func aggregateTypes() async throws {
        let query = storage.query(LiveOrder.self).where { $0.total > 0 }
        let sum = AggregationSubscription(query, .sum(\.total), start: .immediate)
        let all = AggregationSubscription(
            query, .count, .sum(\.pieces), .average(\.total), .min(\.customer), .max(\.status),
            .count(distinct: \.customer),
            .count(of: \.customer), start: .immediate)
        #expect(sum.value == 0)
        #expect(all.value.2 == nil)
        try await save(order(1, "Ada", 0.1, pieces: 2), order(2, nil, 0.2, pieces: 3, .sent), order(3, "Ada", -5))
        let value: Double = sum.value
        #expect(value == 0.1 + 0.2)
        let (count, pieces, mean, least, greatest, customers, named) = all.value
        #expect(count == 2)
        #expect(pieces == 5)
        #expect(mean == (0.1 + 0.2) / 2)
        #expect(least == "Ada")
        #expect(greatest == .sent)
        #expect(customers == 1)
        #expect(named == 1)
        // What has gone leaves nothing behind.
        try await save(order(4, nil, 1e300), order(5, nil, 0.1))
        await storage.waitForViews(through: try await storage.delete(LiveOrder.self, id: 4))
        await storage.waitForViews(through: try await storage.delete(LiveOrder.self, id: 2))
        #expect(sum.value == 0.2)
    }

    @Test("A sum that overflows at first is an error until it fits", .timeLimit(.minutes(10)))
    func sumOverflowingAtFirst() async throws {
        try await save(order(1, nil, pieces: .max), order(2, nil, pieces: 1))
        let sum = AggregationSubscription(storage.query(LiveOrder.self), .sum(\.pieces), start: .immediate)
        #expect(sum.error?.code == .invalidValue)
        try await storage.delete(LiveOrder.self, id: 2)
        while sum.error != nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(sum.value == .max)
    }

    @Test("A sum beyond its column's type is an error that says so")
    func sumBeyondType() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(LiveTallyRecord.self) }.facade
        let values: [Int8] = [100, 100, -50]
        try await storage.save(values.enumerated().map { LiveTally(id: $0.offset + 1, small: $0.element) })
        #expect(try await storage.query(LiveTally.self).where { $0.id != 1 }.sum(\.small) == 50)
        let error = await #expect(throws: StorageError.self) { try await storage.query(LiveTally.self).sum(\.small) }
        #expect(error?.code == .invalidValue)
        #expect(error?.message == "The sum 150 doesn't fit into Int8.")
        let live = AggregationSubscription(storage.query(LiveTally.self), .sum(\.small), start: .immediate)
        #expect(live.error?.message == "The sum 150 doesn't fit into Int8.")
    }

    @Test("A sum that overflows is an error until it fits again")
    func overflowingSum() async throws {
        let pieces = storage.query(LiveOrder.self)
        let sum = AggregationSubscription(pieces, .sum(\.pieces), start: .immediate)
        try await save(order(1, nil, pieces: .max))
        #expect(sum.value == .max)
        try await save(order(2, nil, pieces: 1))
        #expect(sum.error?.code == .invalidValue)
        #expect(sum.value == .max)
        try await save(order(1, nil, pieces: 1))
        #expect(sum.error == nil)
        #expect(sum.value == 2)
    }

    @Test("A value that its type doesn't have is an error until it is gone")
    func valueOutsideType() async throws {
        try await save(order(1, "Ada", 2))
        let greatest = AggregationSubscription(
            storage.query(LiveOrder.self), .count, .max(\.status), .min(\.customer), start: .immediate)
        let byStatus = GroupedAggregationSubscription(
            storage.query(LiveOrder.self), .sum(\.total), .max(\.status), groupedBy: \.status, start: .immediate)
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("UPDATE live_orders SET status = 'x' WHERE id = 1") })
        #expect(greatest.error?.code == .invalidValue)
        #expect(greatest.value.1 == .open)
        #expect(byStatus.error?.code == .invalidValue)
        #expect(byStatus.groups.map(\.key) == [.open])
        try await save(order(1, "Ada", 2, .paid))
        #expect(greatest.error == nil)
        #expect(greatest.value.1 == .paid)
        await byStatus.refresh()
        #expect(byStatus.error == nil)
        #expect(byStatus.groups.map(\.key) == [.paid])
    }

    @Test("Groups of a column have typed keys")
    func typedGroupKeys() async throws {
        let byStatus = GroupedAggregationSubscription(
            storage.query(LiveOrder.self), .count, .sum(\.total), groupedBy: \.status, start: .immediate)
        let byCustomer = orders.subscribeAggregate(.max(\.pieces), groupedBy: \.customer, start: .immediate)
        #expect(byStatus.groups.isEmpty)
        var differences = byStatus.differences.makeAsyncIterator()
        _ = await differences.next()
        try await save(order(1, "Ada", 2, pieces: 4), order(2, nil, 3, .paid), order(3, "Ada", 5, pieces: 9, .paid))
        #expect(byStatus.groups.map(\.key) == [.open, .paid])
        #expect(byStatus[.paid]?.0 == 2)
        #expect(byStatus[.paid]?.1 == 8)
        #expect(byStatus[.sent] == nil)
        #expect(byCustomer.groups.map(\.key) == [nil, "Ada"])
        #expect(byCustomer["Ada"] == 9)
        let difference = await differences.next()
        var groups: [AggregateGroup<LiveOrder.Status, (Int, Double)>] = []
        difference?.apply(to: &groups)
        #expect(groups.map(\.key) == [.open, .paid])
        try await save(order(1, "Ada", 2, .paid))
        #expect(byStatus.groups.map(\.key) == [.paid])
        await differences.next()?.apply(to: &groups)
        #expect(groups.map(\.value.0) == [3])
    }

    /// Where `a` and `A` are one group, its key is that of a row that is there.
    @Test("The key of a group is that of one of its rows")
    func groupKeyIsOfARow() async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(CardRecord.self)
            $0.migration("cards without case") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE new_cards (
                            id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL COLLATE NOCASE, lane TEXT NOT NULL, rank REAL,
                            updatedAt DATETIME NOT NULL);
                        DROP TABLE cards;
                        ALTER TABLE new_cards RENAME TO cards;
                        """)
            }
        }.facade
        try await storage.save(["A", "a", "b"].enumerated().map { Card(id: $0, title: $1, lane: "", rank: 1) })
        let totals = GroupedAggregationSubscription(
            storage.query(Card.self), .count, groupedBy: \.title, start: .immediate)
        #expect(totals.groups.map(\.value) == [2, 1])
        for gone in [0, 1] {
            try await storage.save([
                Card(id: 0, title: "A", lane: "", rank: 1), Card(id: 1, title: "a", lane: "", rank: 1),
            ])
            await storage.waitForViews(through: try await storage.delete(Card.self, id: gone))
            #expect(totals.groups.map(\.key) == [gone == 0 ? "a" : "A", "b"])
            #expect(totals.groups.map(\.value) == [1, 1])
        }
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("UPDATE cards SET title = 'a' WHERE id = 0") })
        #expect(totals.groups.map(\.key) == ["a", "b"])
    }

    @Test("Rows are grouped by any value of theirs")
    func groupingByClosure() async throws {
        let bySize = GroupedQuerySubscription(
            storage.query(LiveOrder.self).orderBy(\.total), groupBy: \.size, start: .immediate)
        let byCustomer = orders.subscribeGrouped(
            baseQuery: storage.query(LiveOrder.self), groupBy: \.customer,
            configuration: .init(sortGroupsBy: .key(), includeEmptyGroups: true), start: .immediate
        )
        try await save(order(1, "Ada", 3), order(2, nil, 2), order(3, "Ada", 1, pieces: 11))
        #expect(bySize.sortedGroupKeys == [.small, .large])
        #expect(bySize.items(in: .small).map(\.id) == [2, 1])
        #expect(bySize.groups[.large]?.map(\.id) == [3])
        #expect(byCustomer.sortedGroupKeys == [nil, "Ada"])
        #expect(byCustomer.totalCount == 3)
        try await save(order(2, "Ada", 2, pieces: 12))
        #expect(bySize.items(in: .large).map(\.id) == [3, 2])
        #expect(byCustomer.sortedGroupKeys == [nil, "Ada"])
        #expect(!byCustomer.hasItems(in: nil))
        #expect(byCustomer.groupCounts == [nil: 0, "Ada": 3])
    }

    @Test("Group counts include all rows of a group")
    func countsOfGroups() async throws {
        let byStatus = GroupedQuerySubscription(
            storage.query(LiveOrder.self).orderBy(\.total, .descending), groupBy: \.status,
            configuration: .init(
                sortGroupsBy: .count(ascending: false), fixedGroups: LiveOrder.Status.allCases, maxItemsPerGroup: 2),
            start: .immediate)
        #expect(byStatus.sortedGroupKeys == LiveOrder.Status.allCases)
        var differences = byStatus.differences.makeAsyncIterator()
        var sections: [GroupSection<LiveOrder.Status, LiveOrder>] = []
        await differences.next()?.apply(to: &sections)
        try await save(
            order(1, nil, 1, .paid), order(2, nil, 2, .paid), order(3, nil, 3, .paid), order(4, nil, 4, .open))
        #expect(byStatus.sortedGroupKeys == [.paid, .open, .sent])
        #expect(byStatus.count(in: .paid) == 3)
        #expect(byStatus.items(in: .paid).map(\.id) == [3, 2])
        #expect(byStatus.totalCount == 4)
        try await save(order(3, nil, 3, .open))
        let difference = try #require(await differences.next())
        difference.apply(to: &sections)
        #expect(sections == byStatus.sections)
        #expect(byStatus.items(in: .paid).map(\.id) == [2, 1])
        #expect(byStatus.items(in: .open).map(\.id) == [4, 3])
        let moved = difference.changes.contains {
            if case .move(let order, let from, let to) = $0 {
                order.id == 3 && from.section != to.section
            } else {
                false
            }
        }
        #expect(moved)
    }

    @Test("A grouped query with a limit is refused")
    func groupedQueryWithLimit() async throws {
        let wrong = GroupedQuerySubscription(storage.query(LiveOrder.self).limit(3), groupBy: \.id, start: .immediate)
        #expect(wrong.error?.code == .invalidArgument)
        #expect(!wrong.isLoading)
    }

    @Test("Sequences end with their subscription")
    func sequencesEndWithSubscription() async throws {
        let count = CountSubscription(storage.query(LiveOrder.self), start: .immediate)
        let groups = GroupedQuerySubscription(storage.query(LiveOrder.self), groupBy: \.id, start: .immediate)
        let sums = AggregationSubscription(storage.query(LiveOrder.self), .sum(\.total), start: .immediate)
        let sequences = (count.snapshots, groups.snapshots, sums.snapshots)
        count.cancel()
        groups.cancel()
        sums.cancel()
        for await value in sequences.0 { #expect(value == 0) }
        for await value in sequences.1 { #expect(value.isEmpty) }
        for await value in sequences.2 { #expect(value == 0) }
    }
}
