import CSQLite
import StorageCore
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageRouting

/// Routing takes work for those who are concerned, not for those who subscribed: counted, not timed.
@Suite struct RouterWorkTests {
    /// Makes subscriptions number 0, 1, 2 … of one shape, of which each change concerns one.
    struct Shape: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let predicate: @Sendable (Int) -> RowPredicate

        static let all = [
            Shape(testDescription: "equality") { .comparison(column: "name", .equal, .value(.text("name \($0)"))) },
            Shape(testDescription: "row id") { .comparison(column: "id", .equal, .value(.integer(Int64($0)))) },
            Shape(testDescription: "list") {
                .among(column: "age", [.integer(Int64($0)), .integer(Int64($0) + 1_000_000)])
            },
            Shape(testDescription: "range") {
                .between(column: "age", .real(Double($0)), .real(Double($0) + 0.5))
            },
            Shape(testDescription: "prefix") { .hasPrefix("name", "name \($0)\u{7C}") },
            Shape(testDescription: "tenant and status") {
                .comparison(column: "tenant", .equal, .value(7))
                    && .comparison(column: "age", .equal, .value(.integer(Int64($0))))
            },
            Shape(testDescription: "tenant and a range") {
                .comparison(column: "tenant", .equal, .value(7))
                    && .comparison(column: "age", .greaterOrEqual, .value(.real(Double($0))))
                    && .comparison(column: "age", .less, .value(.real(Double($0) + 1)))
            },
        ]
    }

    @Test("Work doesn't grow with subscriptions", arguments: Shape.all)
    func constantWork(shape: Shape) throws {
        var work: [RouterCounters] = []
        // With as many as this, work that grows would be ten times as much; before a release, a hundred times.
        for count in [100, 1_000, 10_000] + (testScale > 1 ? [100_000] : []) {
            let people = People()
            let router = Router()
            router.add(people.layout)
            for number in 0..<count {
                _ = try router.register(people.layout.entity, where: shape.predicate(number), affecting: .none)
            }
            for number in 0..<50 {
                let events = RoutedEvents()
                events.insert([
                    .integer(Int64(number)), .text("name \(number)|"), .integer(Int64(number)), .integer(7),
                    .text("x"),
                ])
                if shape.testDescription == "equality" {
                    events.insert([.integer(-1), .text("name \(number)"), .null, .null, .null])
                }
                let changes = ChangeFold()
                router.fill(changes) { changes in events.withView { changes.add($0, 0..<$0.count, first: 1) } }
                #expect(router.route(changes, rows: nil).count == 1)
            }
            work.append(router.counters)
        }
        #expect(work.allSatisfy { $0.woken == 50 && $0.candidates == $0.evaluations })
        // A bucket may hold a few that aren't concerned, but not more and more.
        #expect(work.allSatisfy { $0.evaluations <= 50 * Bucket.largest }, "\(work)")
        #expect(work.dropFirst(2).allSatisfy { $0.evaluations <= work[1].evaluations }, "\(work)")
    }

    /// 20,000 subscriptions of one tenant don't lie in one list.
    @Test("A common anchor is refined by a second one")
    func secondAnchor() throws {
        let people = People()
        let router = Router()
        router.add(people.layout)
        var tokens: [SubscriptionToken] = []
        for number in 0..<20_000 {
            let predicate =
                RowPredicate.comparison(column: "tenant", .equal, .value(7))
                && .comparison(column: "status", .equal, .value(.text("status \(number % 100)")))
                && .comparison(column: "age", .equal, .value(.integer(Int64(number / 100))))
            tokens.append(try router.register(people.layout.entity, where: predicate, affecting: .none))
        }
        #expect(router.splitCount > 0)
        let changes = ChangeFold()
        let events = RoutedEvents()
        events.insert([.integer(1), .text("a"), .integer(150), .integer(7), .text("status 42")])
        router.fill(changes) { changes in events.withView { changes.add($0, 0..<$0.count, first: 1) } }
        let routed = router.route(changes, rows: nil)
        #expect(routed.map(\.token) == [tokens[150 * 100 + 42]])
        #expect(router.counters.evaluations <= Bucket.largest)
        var random = SplitMix64(seed: 1)
        for token in tokens.shuffled(using: &random) { router.remove(token) }
        #expect(router.isEmpty)
    }

    /// The same question asked a thousand times is answered once.
    @Test("Equal conditions are evaluated once")
    func equalConditions() throws {
        let people = People()
        let router = Router()
        router.add(people.layout)
        let tenant = RowPredicate.comparison(column: "tenant", .equal, .value(7))
        let adult = RowPredicate.comparison(column: "age", .greaterOrEqual, .value(18))
        for number in 0..<1_000 {
            // In either order, and with a number of either kind.
            let predicate =
                number % 2 == 0 ? tenant && adult : .not(.comparison(column: "age", .less, .value(18.0))) && tenant
            _ = try router.register(people.layout.entity, where: predicate, affecting: .none)
        }
        let events = RoutedEvents()
        events.insert([.integer(1), .text("a"), .integer(20), .integer(7), .null])
        let changes = ChangeFold()
        router.fill(changes) { changes in events.withView { changes.add($0, 0..<$0.count, first: 1) } }
        #expect(router.route(changes, rows: nil).count == 1_000)
        #expect(router.counters.evaluations == 1)
    }
}
