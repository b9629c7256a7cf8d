import Foundation
import StorageSync
import Testing

/// A query returns what it was built from.
@Suite struct QueryBuilderTests {
    @Test("Each call is recorded in order")
    func callsAreRecordedInOrder() {
        let query = QueryBuilder()
            .where("a", isEqualTo: 1).where("b", isNotEqualTo: "x").where("c", isGreaterThan: 1.5)
            .where("d", isGreaterThanOrEqualTo: 2).order(by: "c").where("e", isLessThan: 3)
            .where("f", isLessThanOrEqualTo: 4).where("g", arrayContains: "t").where("h", arrayContainsAny: ["t", "u"])
            .limit(to: 10).where("i", in: [1, 2]).where("j", notIn: [true]).order(by: "d", descending: true)
            .limit(toLast: 5).start(at: [1]).start(after: [2, "x"]).end(at: [3]).end(before: [4])
        func filter(_ field: String, _ operator: QueryOperator, _ value: any DMCodableSendable) -> QueryOperation {
            .filter(QueryFilter(field: field, operator: `operator`, value: value))
        }
        #expect(
            query.getOperations() == [
                filter("a", .isEqualTo, 1), filter("b", .isNotEqualTo, "x"), filter("c", .isGreaterThan, 1.5),
                filter("d", .isGreaterThanOrEqualTo, 2), .order(QueryOrder(field: "c")), filter("e", .isLessThan, 3),
                filter("f", .isLessThanOrEqualTo, 4), filter("g", .arrayContains, "t"),
                filter("h", .arrayContainsAny, ["t", "u"]), .limit(10), filter("i", .in, [1, 2]),
                filter("j", .notIn, [true]), .order(QueryOrder(field: "d", descending: true)), .limitToLast(5),
                .startAt(QueryCursor(values: [1])), .startAfter(QueryCursor(values: [2, "x"])),
                .endAt(QueryCursor(values: [3])), .endBefore(QueryCursor(values: [4])),
            ])
        #expect(query.getFilters().map(\.field) == ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"])
        #expect(query.getOrders() == [QueryOrder(field: "c"), QueryOrder(field: "d", descending: true)])
        #expect(query.getLimit() == 10)
        #expect(query.getLimitToLast() == 5)
        #expect(query.getStartAt() as? [Int] == [1])
        #expect(query.getStartAfter()?.count == 2)
        #expect(query.getEndAt() as? [Int] == [3])
        #expect(query.getEndBefore() as? [Int] == [4])
    }

    @Test("An empty query is empty")
    func emptyQuery() {
        let query = QueryBuilder()
        #expect(query.getOperations().isEmpty)
        #expect(query.getFilters().isEmpty)
        #expect(query.getOrders().isEmpty)
        #expect(query.getLimit() == nil)
        #expect(query.getLimitToLast() == nil)
        #expect(query.getStartAt() == nil)
        #expect(query.getStartAfter() == nil)
        #expect(query.getEndAt() == nil)
        #expect(query.getEndBefore() == nil)
    }

    @Test("The last limit and cursor of a kind count")
    func lastLimitAndCursorCount() {
        let query = QueryBuilder().limit(to: 1).limit(to: 2).start(at: [1]).start(at: [2]).end(at: [3]).end(at: [4])
        #expect(query.getLimit() == 2)
        #expect(query.getStartAt() as? [Int] == [2])
        #expect(query.getEndAt() as? [Int] == [4])
    }

    @Test("A query doesn't change when another one is made from it")
    func queriesAreValues() {
        let base = QueryBuilder().where("category", isEqualTo: "electronics")
        let limited = base.limit(to: 3)
        #expect(base.getOperations().count == 1)
        #expect(limited.getOperations().count == 2)
        #expect(base != limited)
    }

    @Test("Queries are built in closures")
    func queriesInClosures() {
        func made(_ build: (QueryBuilder) -> QueryBuilder) -> QueryBuilder { build(QueryBuilder()) }
        let query = made { query in query.where("category", isEqualTo: "electronics").limit(to: 2) }
        #expect(query == QueryBuilder().where("category", isEqualTo: "electronics").limit(to: 2))
    }

    @Test("Equality compares values as JSON")
    func equalityOfValues() {
        func query(_ value: any DMCodableSendable) -> QueryBuilder { QueryBuilder().where("a", isEqualTo: value) }
        #expect(query(1) == query(1.0))
        #expect(query(Int64(10_000_000_000_000_000)) == query(1e16))
        #expect(query((1 << 53) + 1) != query(Double(1 << 53)))
        #expect(query(["x": 1, "y": 2]) == query(["y": 2, "x": 1]))
        #expect(query("1") != query(1))
        #expect(query(true) != query(1))
        #expect(query(["x", "y"]) != query(["y", "x"]))
        #expect(query(String?.none) == query(Int?.none))
        #expect(query("é") != query("e\u{301}"))
        #expect(query(Date(timeIntervalSinceReferenceDate: 5)) == query(5))
        // Not JSON, and equal to themselves anyway.
        #expect(query(Double.nan) == query(Double.nan))
        #expect(query(Double.infinity) != query(Double.nan))
    }

    @Test("Equality compares fields, operators and order")
    func equalityOfConditions() {
        let query = QueryBuilder().where("a", isLessThan: 1)
        #expect(query != QueryBuilder().where("b", isLessThan: 1))
        #expect(query != QueryBuilder().where("a", isGreaterThan: 1))
        #expect(query.where("b", in: [1]) != QueryBuilder().where("b", in: [1]).where("a", isLessThan: 1))
        #expect(query.order(by: "a") == query.order(by: "a", descending: false))
        #expect(query.order(by: "a") != query.order(by: "a", descending: true))
        #expect(query.start(at: [1]) != query.start(after: [1]))
        #expect(query.start(at: [1]) != query.start(at: [1, 2]))
        #expect(query.start(at: [1]) == query.start(at: [1.0]))
    }
}
