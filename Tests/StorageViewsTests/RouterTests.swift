import CSQLite
import GRDB
import PredicateTestSupport
import StorageCore
import Testing

@testable import StorageLog
@testable import StorageRouting

/// Single promises of the router, each by itself.
@Suite struct RouterTests {
    private let people = People()
    private let router = Router()
    private let changes = ChangeFold()

    init() { router.add(people.layout) }

    private func register(_ predicate: RowPredicate, _ columns: String...) throws -> SubscriptionToken {
        try router.register(people.layout.entity, where: predicate, affecting: people.layout.mask(of: columns))
    }

    private func route(_ events: RoutedEvents, rows: CurrentRows? = nil) -> [RoutedChange] {
        router.fill(changes) { changes in events.withView { changes.add($0, 0..<$0.count, first: 1) } }
        return withExtendedLifetime(events) { router.route(changes, rows: rows) }
    }

    private let tenant = RowPredicate.comparison(column: "tenant", .equal, .value(7))

    @Test("A row that was inserted and deleted isn't a change")
    func insertedAndDeleted() throws {
        _ = try register(.constant(true), "name")
        let events = RoutedEvents()
        events.insert([1, "a", 1, 7, .null])
        events.update(1, [(1, "a", "b")])
        events.delete([1, "b", 1, 7, .null])
        #expect(route(events).isEmpty)
        #expect(changes.changes.isEmpty)
    }

    @Test("A change that is reverted isn't a change")
    func revertedChange() throws {
        _ = try register(.constant(true), "name")
        let events = RoutedEvents()
        events.update(1, [(1, "a", "b")])
        events.update(1, [(1, "b", "a")])
        #expect(route(events).isEmpty)
    }

    @Test("Updates are one from the first old to the last new value")
    func updatesAreMerged() throws {
        let old = try register(.comparison(column: "name", .equal, .value("a")))
        let between = try register(.comparison(column: "name", .equal, .value("b")))
        let new = try register(.comparison(column: "name", .equal, .value("c")))
        let events = RoutedEvents()
        events.update(1, [(1, "a", "b")])
        events.update(1, [(1, "b", "c"), (2, 1, 2)])
        let routed = route(events)
        #expect(Set(routed.map(\.token)) == [old, new])
        #expect(routed.first { $0.token == old }?.effect == .leave)
        #expect(routed.first { $0.token == new }?.effect == .enter)
        #expect(router.explain(between)?.wakeups == 0)
    }

    /// Another program had deleted it, without an event.
    @Test("A row that is inserted although it is there is replaced")
    func insertedPresentRow() throws {
        _ = try register(tenant, "name")
        let events = RoutedEvents()
        events.update(1, [(1, "a", "b")])
        events.insert([1, "c", 1, 7, .null])
        #expect(route(events).map(\.effect) == [.stay])
    }

    @Test("A row that is put back is replaced")
    func reinsertedRow() throws {
        let token = try register(tenant, "name")
        let events = RoutedEvents()
        events.delete([1, "a", 1, 7, .null])
        events.insert([1, "b", 1, 7, .null])
        #expect(route(events).map(\.effect) == [.stay])
        #expect(changes.changes.map(\.changed) == [ColumnMask(index: 1)])
        #expect(router.explain(token)?.lastEffect == .stay)
    }

    @Test("Unwatched columns wake no subscription")
    func unwatchedColumns() throws {
        _ = try register(tenant, "name")
        let events = RoutedEvents()
        events.update(1, [(2, 1, 2)])
        #expect(route(events).isEmpty)
        #expect(router.counters.candidates == 0)
        #expect(router.counters.fallbacks == 0)
    }

    /// What an update leaves alone has to be read; where it can't be, everybody is notified.
    @Test("Without the row everybody is notified")
    func missingRow() throws {
        let tokens = [try register(tenant, "name"), try register(.comparison(column: "age", .equal, .value(5)))]
        let events = RoutedEvents()
        events.update(1, [(1, "a", "b")])
        let routed = route(events)
        #expect(Set(routed.map(\.token)) == Set(tokens))
        #expect(routed.allSatisfy { $0.effect == .uncertain })
        #expect(router.counters.fallbacks == 1)
    }

    @Test("An unknown column concerns everybody")
    func unknownColumn() throws {
        let token = try register(.constant(false))
        let events = RoutedEvents()
        events.update(1, [(90, "a", "b")])
        #expect(route(events).map(\.effect) == [.uncertain])
        #expect(router.explain(token)?.lastEffect == .uncertain)
    }

    /// SQL counts as true; conditions beside it still narrow.
    @Test("Raw SQL is uncertain where the rest is true")
    func rawSQLIsUncertain() throws {
        let token = try register(tenant && .sql("length(name) > ?", 3))
        let negated = try register(.not(.any([.sql("length(name) > ?", 3), !tenant])))
        #expect(router.explain(token)?.tier == .opaque)
        let events = RoutedEvents()
        events.insert([1, "a", 1, 7, .null])
        events.insert([2, "a", 1, 8, .null])
        let routed = route(events)
        #expect(Set(routed.map(\.token)) == [token, negated])
        #expect(routed.allSatisfy { $0.effect == .uncertain && changes.changes[$0.change].position == 1 })
    }

    @Test("A removed token isn't used again")
    func removedToken() throws {
        let first = try register(tenant)
        router.remove(first)
        let second = try register(tenant)
        #expect(first != second)
        #expect(router.explain(first) == nil)
        router.remove(first)
        #expect(router.count == 1)
        #expect(router.explain(second)?.sharedBy == 1)
    }

    @Test("It explains how a subscription is found")
    func explanation() throws {
        let id = RowPredicate.comparison(column: "id", .equal, .value(3))
        #expect(try router.explain(register(tenant && id))?.anchors == ["id ="])
        #expect(try router.explain(register(.hasPrefix("name", "An")))?.anchors == ["name begins with 2 bytes"])
        #expect(try router.explain(register(.contains("name", "An")))?.tier == .evaluated)
        #expect(
            try router.explain(register(tenant || .isNull(column: "status")))?.anchors == [
                "status is null", "tenant =",
            ])
        let adult = RowPredicate.comparison(column: "age", .greater, .value(18))
        let young = RowPredicate.comparison(column: "age", .less, .value(30))
        #expect(try router.explain(register(adult))?.anchors == ["age from"])
        #expect(try router.explain(register(adult && young))?.anchors == ["age between"])
        let token = try register(adult)
        #expect(router.explain(token)?.sharedBy == 2)
        let events = RoutedEvents()
        events.insert([1, "a", 19, 8, .null])
        _ = route(events)
        let explained = try #require(router.explain(token))
        #expect(explained.wakeups == 1)
        #expect(explained.lastPosition == 1)
        #expect(explained.lastEffect == .enter)
    }

    @Test("Unknown columns and entities are refused")
    func unknownColumnsAndEntities() throws {
        let error = #expect(throws: StorageError.self) { try register(.isNull(column: "nope")) }
        #expect(error?.code == .invalidName)
        let misuse = #expect(throws: StorageError.self) {
            try router.register(99, where: .constant(true), affecting: .none)
        }
        #expect(misuse?.code == .invalidArgument)
        #expect(router.isEmpty)
    }

    /// One look-up for a changed row, however many ask, and none where nobody does.
    @Test("A row is read once at most")
    func rowIsReadOnce() async throws {
        let engine = try await RoutedStore.open { _ in }
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO rows(id, i, t, u) VALUES ('k1', 1, 'a', 'x')")
        }
        let reads = Reads()
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "UPDATE rows SET t = 'b'")
            try db.execute(sql: "UPDATE rows SET n = 3")
        }
        try await engine.withWriter { writer, db in
            let layout = try RoutedStore.layout(writer)
            let router = Router()
            let rows = CurrentRows(db)
            let changes = ChangeFold()
            router.add(layout)
            let batch = try #require(try LogReader(writer.database).batch(containing: writer.head.position))
            func route(_ positions: Int) throws -> [RoutedChange] {
                router.fill(changes) { changes in
                    batch.withView {
                        changes.add($0, $0.count - positions..<$0.count, first: batch.positions.lowerBound)
                    }
                }
                return withExtendedLifetime(batch) { router.route(changes, rows: rows) }
            }
            for number in 0..<100 {
                _ = try router.register(
                    layout.entity, where: .comparison(column: "i", .lessOrEqual, .value(.integer(Int64(number)))),
                    affecting: layout.mask(of: ["t"]))
            }
            // The last event is of a column that nobody looks at.
            reads.append(rows.reads, try route(1).count)
            reads.append(rows.reads, try route(2).count)
            reads.append(rows.reads, 0)
        }
        #expect(reads.all == [[0, 0], [0, 99], [1, 0]])
    }

    /// Keys are in the order in which SQLite puts the values.
    @Test("Keys are in SQLite's order")
    func keyOrder() throws {
        var generator = PredicateGenerator(seed: 9)
        for collation in RowPredicate.Collation.allCases {
            let reading = ColumnReading(columnIndex: 0, conversion: .none, collation: collation)
            let comparator = try RowComparator(
                [RowOrdering("u", collation: collation)], columns: [EvaluatedColumn(name: "u", affinity: .blob)])
            for _ in 0..<20_000 {
                let (left, right) = (generator.value(), generator.value())
                guard let one = ComparisonKey.bytes(of: left, reading),
                    let two = ComparisonKey.bytes(of: right, reading)
                else { continue }
                let order = one.withUnsafeBytes { one in two.withUnsafeBytes { ComparisonKey.order(one, $0) } }
                #expect(order.signum() == comparator.order([left], [right]).signum(), "\(left) and \(right)")
                if KeyHead(one) != KeyHead(two) { #expect((KeyHead(one) < KeyHead(two)) == (order < 0)) }
            }
        }
    }
}

/// Sound as `@unchecked Sendable`: filled on the writer's queue, read when that is done.
private final class Reads: @unchecked Sendable {
    private(set) var all: [[Int]] = []
    func append(_ values: Int...) { all.append(values) }
}
