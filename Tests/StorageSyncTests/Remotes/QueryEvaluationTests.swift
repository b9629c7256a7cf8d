import Foundation
import PredicateTestSupport
import StorageCore
import StorageSync
import TestSupport
import Testing

/// Queries find what Firestore's rules say.
@Suite struct QueryEvaluationTests {
    /// A document with any fields.
    private struct Sheet: DataSyncModelProtocol {
        let id: String
        let fields: [String: JSONValue]

        init(_ id: String, _ fields: [String: JSONValue] = [:]) { (self.id, self.fields) = (id, fields) }
        init(from decoder: any Decoder) throws { throw CancellationError() }
        func encode(to encoder: any Encoder) throws { try JSONValue.object(fields).encode(to: encoder) }
    }

    /// The ids of the documents that a query finds among documents with a value each in the field "a".
    private func ids(_ values: [String: JSONValue], _ build: (QueryBuilder) -> QueryBuilder) throws -> [String] {
        try found(values.sorted { $0.key > $1.key }.map { Sheet($0.key, ["a": $0.value]) }, build)
    }

    private func found(_ sheets: [Sheet], _ build: (QueryBuilder) -> QueryBuilder) throws -> [String] {
        try build(QueryBuilder()).apply(to: sheets).map(\.id)
    }

    private static let big: Int64 = (1 << 53) + 1

    // MARK: Conditions

    private static let mixed: [String: JSONValue] = [
        "null": .null, "false": .bool(false), "true": .bool(true), "1": .integer(1), "1.5": .number(1.5),
        "big": .integer(big), "one": .string("1"), "list": .array([.integer(1)]), "map": .object(["b": .integer(1)]),
    ]

    @Test("Values are compared within their kind only")
    func valuesCompareWithinKinds() throws {
        #expect(try ids(Self.mixed) { $0.where("a", isEqualTo: 1) } == ["1"])
        #expect(try ids(Self.mixed) { $0.where("a", isEqualTo: "1") } == ["one"])
        #expect(try ids(Self.mixed) { $0.where("a", isEqualTo: true) } == ["true"])
        #expect(try ids(Self.mixed) { $0.where("a", isEqualTo: [1]) } == ["list"])
        #expect(try ids(Self.mixed) { $0.where("a", isEqualTo: ["b": 1]) } == ["map"])
        #expect(try ids(Self.mixed) { $0.where("a", isGreaterThan: 1) } == ["1.5", "big"])
        #expect(try ids(Self.mixed) { $0.where("a", isGreaterThanOrEqualTo: 1) } == ["1", "1.5", "big"])
        #expect(try ids(Self.mixed) { $0.where("a", isLessThan: 1.5) } == ["1"])
        #expect(try ids(Self.mixed) { $0.where("a", isLessThanOrEqualTo: 1.5) } == ["1", "1.5"])
        #expect(try ids(Self.mixed) { $0.where("a", isGreaterThan: "") } == ["one"])
        #expect(try ids(Self.mixed) { $0.where("a", isGreaterThan: false) } == ["true"])
        #expect(try ids(Self.mixed) { $0.where("a", isLessThan: [2]) } == ["list"])
        #expect(try ids(Self.mixed) { $0.where("a", in: [JSONValue.string("1"), .bool(false)]) } == ["false", "one"])
    }

    @Test("Numbers are compared exactly")
    func numbersCompareExactly() throws {
        let values: [String: JSONValue] = [
            "a": .integer(1 << 53), "b": .integer(Self.big), "c": .integer(.max), "d": .number(0x1p63),
            "e": .number(0.5),
        ]
        #expect(try ids(values) { $0.where("a", isEqualTo: Double(1 << 53)) } == ["a"])
        #expect(try ids(values) { $0.where("a", isEqualTo: Self.big) } == ["b"])
        #expect(try ids(values) { $0.where("a", isGreaterThan: Double(1 << 53)) } == ["b", "c", "d"])
        #expect(try ids(values) { $0.where("a", isLessThan: 0x1p63) } == ["e", "a", "b", "c"])
        #expect(try ids(values) { $0.where("a", isLessThan: Int64.max) } == ["e", "a", "b"])
    }

    @Test("Missing and null fields match almost nothing")
    func missingAndNullFields() throws {
        let sheets = [Sheet("missing"), Sheet("null", ["a": .null]), Sheet("1", ["a": .integer(1)])]
        #expect(try found(sheets) { $0.where("a", isNotEqualTo: 2) } == ["1"])
        #expect(try found(sheets) { $0.where("a", isNotEqualTo: "x") } == ["1"])
        #expect(try found(sheets) { $0.where("a", notIn: [2, 3]) } == ["1"])
        #expect(try found(sheets) { $0.where("a", notIn: [1]) } == [])
        #expect(try found(sheets) { $0.where("a", isLessThanOrEqualTo: 1) } == ["1"])
        #expect(try found(sheets) { $0.where("a", isEqualTo: Int?.none) } == ["null"])
        #expect(try found(sheets) { $0.where("a", isNotEqualTo: Int?.none) } == ["1"])
        #expect(try found(sheets) { $0.where("a", isLessThanOrEqualTo: Int?.none) } == [])
        #expect(try found(sheets) { $0.where("a", in: [1, nil]) } == ["1", "null"])
        #expect(try found(sheets) { $0.where("a", notIn: [2, nil]) } == [])
    }

    @Test("Arrays are searched")
    func arrays() throws {
        let values: [String: JSONValue] = [
            "12": .array([.integer(1), .integer(2)]), "3": .array([.number(3)]), "none": .array([]),
            "text": .string("1"), "nested": .array([.array([.integer(1)])]),
        ]
        #expect(try ids(values) { $0.where("a", arrayContains: 1) } == ["12"])
        #expect(try ids(values) { $0.where("a", arrayContains: 3) } == ["3"])
        #expect(try ids(values) { $0.where("a", arrayContains: [1]) } == ["nested"])
        #expect(try ids(values) { $0.where("a", arrayContainsAny: [2, 3]) } == ["12", "3"])
        #expect(try ids(values) { $0.where("a", arrayContainsAny: [Int]()) } == [])
        #expect(try ids(values) { $0.where("a", in: [[3]]) } == ["3"])
    }

    @Test("All conditions must be met")
    func allConditions() throws {
        #expect(
            try ids(["1": .integer(1), "2": .integer(2), "3": .integer(3)]) {
                $0.where("a", isGreaterThan: 1).where("a", isLessThan: 3)
            } == ["2"])
    }

    @Test("Dots lead into nested objects")
    func nestedFields() throws {
        let sheets = [
            Sheet("paris", ["address": .object(["city": .string("Paris"), "geo": .object(["x": .integer(2)])])]),
            Sheet("rome", ["address": .object(["city": .string("Rome")])]),
            Sheet("text", ["address": .string("Paris")]), Sheet("flat", ["address.city": .string("Paris")]),
        ]
        #expect(try found(sheets) { $0.where("address.city", isEqualTo: "Paris") } == ["paris"])
        #expect(try found(sheets) { $0.where("address.geo.x", isGreaterThan: 1) } == ["paris"])
        #expect(try found(sheets) { $0.order(by: "address.city", descending: true) } == ["rome", "paris"])
    }

    // MARK: Orders

    @Test("Without an order documents are sorted by id")
    func defaultOrder() throws {
        let sheets = ["b", "a", "é", "e\u{301}", "Z"].map { Sheet($0) }
        // By UTF-8 bytes: the letter e of the second spelling comes long before é.
        let expected = ["Z", "a", "b", "e\u{301}", "é"]
        #expect(try found(sheets) { $0 }.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        #expect(try found(sheets) { $0.limit(to: 2) } == ["Z", "a"])
    }

    @Test("Kinds have an order")
    func orderOfKinds() throws {
        let order = ["null", "false", "true", "1", "1.5", "big", "one", "list", "map"]
        #expect(try ids(Self.mixed) { $0.order(by: "a") } == order)
        #expect(try ids(Self.mixed) { $0.order(by: "a", descending: true) } == order.reversed())
    }

    @Test("Documents without a field of the order are omitted")
    func documentsWithoutOrderField() throws {
        let sheets = [
            Sheet("ab", ["a": .integer(1), "b": .integer(1)]), Sheet("a", ["a": .integer(0)]),
            Sheet("b", ["b": .integer(0)]),
        ]
        #expect(try found(sheets) { $0.order(by: "a") } == ["a", "ab"])
        #expect(try found(sheets) { $0.order(by: "a").order(by: "b") } == ["ab"])
    }

    @Test("Ties are sorted by id in the direction of the last order")
    func tiesAreSortedById() throws {
        let sheets = ["c", "a", "d", "b"].map { Sheet($0, ["a": .integer($0 < "c" ? 1 : 2), "b": .integer(0)]) }
        #expect(try found(sheets) { $0.order(by: "a") } == ["a", "b", "c", "d"])
        #expect(try found(sheets) { $0.order(by: "a", descending: true) } == ["d", "c", "b", "a"])
        #expect(try found(sheets) { $0.order(by: "a", descending: true).order(by: "b") } == ["c", "d", "a", "b"])
        #expect(try found(sheets) { $0.order(by: "a").order(by: "b", descending: true) } == ["b", "a", "d", "c"])
    }

    @Test("Inequalities sort by their fields")
    func inequalitiesSort() throws {
        let values: [String: JSONValue] = ["x": .integer(3), "y": .integer(1), "z": .integer(2)]
        #expect(try ids(values) { $0.where("a", isGreaterThan: 0) } == ["y", "z", "x"])
        #expect(try ids(values) { $0.where("a", isNotEqualTo: 0) } == ["y", "z", "x"])
        #expect(try ids(values) { $0.where("a", in: [1, 2, 3]) } == ["x", "y", "z"])
        #expect(
            try ids(values) { $0.where("a", isGreaterThan: 0).order(by: "a", descending: true) } == ["x", "z", "y"])
    }

    // MARK: Limits and cursors

    private static let numbers: [String: JSONValue] = Dictionary(
        uniqueKeysWithValues: (1...5).map { ("\($0)", JSONValue.integer(Int64($0))) })

    @Test("Limits cut either end")
    func limits() throws {
        #expect(try ids(Self.numbers) { $0.order(by: "a").limit(to: 2) } == ["1", "2"])
        #expect(try ids(Self.numbers) { $0.order(by: "a").limit(toLast: 2) } == ["4", "5"])
        #expect(try ids(Self.numbers) { $0.order(by: "a", descending: true).limit(toLast: 2) } == ["2", "1"])
        #expect(try ids(Self.numbers) { $0.order(by: "a").limit(to: 9) } == ["1", "2", "3", "4", "5"])
        // The last one that was said counts.
        #expect(try ids(Self.numbers) { $0.order(by: "a").limit(to: 3).limit(toLast: 1) } == ["5"])
        #expect(try ids(Self.numbers) { $0.order(by: "a").limit(toLast: 3).limit(to: 1) } == ["1"])
    }

    @Test("Cursors begin and end results")
    func cursors() throws {
        #expect(try ids(Self.numbers) { $0.order(by: "a").start(at: [3]) } == ["3", "4", "5"])
        #expect(try ids(Self.numbers) { $0.order(by: "a").start(after: [3]) } == ["4", "5"])
        #expect(try ids(Self.numbers) { $0.order(by: "a").end(at: [3]) } == ["1", "2", "3"])
        #expect(try ids(Self.numbers) { $0.order(by: "a").end(before: [3]) } == ["1", "2"])
        #expect(try ids(Self.numbers) { $0.order(by: "a").start(at: [2.5]).end(before: [4.5]) } == ["3", "4"])
        #expect(
            try ids(Self.numbers) { $0.order(by: "a", descending: true).start(after: [3]).limit(to: 1) } == ["2"])
        #expect(try ids(Self.numbers) { $0.order(by: "a").end(at: [4]).limit(toLast: 2) } == ["3", "4"])
        #expect(try ids(Self.numbers) { $0.order(by: "a").start(at: [2]).start(after: [4]) } == ["5"])
    }

    @Test("Cursors may omit the last orders")
    func partialCursors() throws {
        let sheets = (0..<4).map { Sheet("\($0)", ["a": .integer($0 / 2), "b": .integer($0 % 2)]) }
        #expect(try found(sheets) { $0.order(by: "a").order(by: "b").start(after: [0]) } == ["2", "3"])
        #expect(try found(sheets) { $0.order(by: "a").order(by: "b").start(after: [0, 0]) } == ["1", "2", "3"])
        #expect(try found(sheets) { $0.order(by: "a").order(by: "b").end(at: [0]) } == ["0", "1"])
    }

    @Test(
        "Queries that make no sense are refused",
        arguments: [
            QueryBuilder().limit(toLast: 1), QueryBuilder().limit(to: 0), QueryBuilder().limit(to: -1),
            QueryBuilder().start(at: [1]), QueryBuilder().order(by: "a").end(before: [1, 2]),
            QueryBuilder().order(by: "a").start(at: []), QueryBuilder().where("a", isLessThan: 1).start(at: [1]),
        ])
    func senselessQueries(query: QueryBuilder) {
        let error = #expect(throws: StorageError.self) { try query.apply(to: [Sheet]()) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("Values that aren't JSON are refused")
    func valuesOutsideJSON() {
        let query = QueryBuilder().where("a", isEqualTo: Double.nan)
        let error = #expect(throws: StorageError.self) { try query.apply(to: [Sheet]()) }
        #expect(error?.code == .invalidValue)
    }

    @Test("A single document can be tested")
    func singleDocument() throws {
        let query = try QueryEvaluation(
            QueryBuilder().where("a", isEqualTo: 1).order(by: "b").start(after: [2]).limit(to: 1))
        #expect(query.matches(.object(["a": .integer(1), "b": .integer(3)])))
        #expect(!query.matches(.object(["a": .integer(1), "b": .integer(2)])))
        #expect(!query.matches(.object(["a": .integer(1)])))
        #expect(!query.matches(.object(["a": .integer(2), "b": .integer(3)])))
    }

    // MARK: JSON

    @Test("Equal values have equal hashes")
    func equalValuesHaveEqualHashes() {
        #expect(JSONValue.integer(1) == .number(1))
        #expect(Set([JSONValue.integer(1), .number(1), .integer(0), .number(-0.0)]).count == 2)
        #expect(JSONValue.integer(Self.big) != .number(Double(Self.big)))
        #expect(JSONValue.integer(.max) != .number(0x1p63))
        #expect(JSONValue.integer(.min) == .number(-0x1p63))
        #expect(JSONValue.number(.nan) == .number(.nan))
        #expect(JSONValue.order(.number(.nan), .number(-.infinity)) < 0)
        #expect(JSONValue.order(.integer(.min), .number(.nan)) > 0)
        #expect(JSONValue.bool(true) != .integer(1))
        #expect(JSONValue.string("é") != .string("e\u{301}"))
        #expect(JSONValue.object(["a": .integer(1)]) == .object(["a": .number(1)]))
        #expect(JSONValue.order(.object(["a": .integer(1)]), .object(["a": .integer(1), "b": .null])) < 0)
        #expect(JSONValue.order(.object(["b": .integer(0)]), .object(["a": .integer(1)])) > 0)
    }

    @Test("Values round-trip")
    func valuesRoundTrip() throws {
        let value = JSONValue.object([
            "null": .null, "flags": .array([.bool(true), .bool(false)]), "most": .integer(.max),
            "least": .integer(.min), "big": .integer(Self.big), "part": .number(0.1), "huge": .number(1e300),
            "text": .string("\"é\u{0}\n"),
            "empty": .object([:]), "none": .array([]),
        ])
        #expect(try JSONValue(encoding: value) == value)
        #expect(try JSONValue(encoding: ["a": 1.0]) == .object(["a": .integer(1)]))
        #expect(try JSONValue(encoding: UInt64.max) == .number(0x1p64))
        #expect(try value.decoded(as: JSONValue.self) == value)
    }

    // MARK: Oracle

    @Test("Random queries find what the oracle finds")
    func randomQueriesMatchOracle() throws {
        var findings = 0
        let seeds = testSeeds(2_000, atLeast: 50)
        for seed in seeds {
            var random = PredicateGenerator(seed: seed)
            let documents = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                QueryOracle.Document(using: &random)
            }
            let oracle = QueryOracle(using: &random)
            let expected = oracle.found(in: documents)
            let evaluation = try QueryEvaluation(oracle.query)
            let found = evaluation.select(from: documents.map { (document: $0.id, id: $0.id, json: $0.json) })
            #expect(found == expected, "seed \(seed): \(oracle.query.getOperations()) of \(documents)")
            findings += found.count
        }
        // Queries that find nothing would agree whatever they did.
        #expect(findings > seeds.count / 2 || seeds.count == 1)
    }
}
