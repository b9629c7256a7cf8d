import PredicateTestSupport
import StorageSync

/// A random query, and what it finds among documents, worked out from its parts in the plainest way.
struct QueryOracle {
    /// A value of a field; numbers in halves, so that they are exact.
    enum Value: Equatable {
        case null
        case flag(Bool)
        case halves(Int64)
        case text([UInt8])
        case list([Int64])

        private static let texts = ["", "a", "ab", "B", "é", "e\u{301}", "\u{FFFD}", "😀"]
        private static let halves: [Int64] = [-3, 0, 1, 2, 3, 4, 1 << 54, (1 << 54) + 2]

        init(using random: inout PredicateGenerator) {
            switch random.next() % 10 {
            case 0: self = .null
            case 1: self = .flag(Bool.random(using: &random))
            case 2...5: self = .halves(Self.halves.randomElement(using: &random) ?? 0)
            case 6, 7: self = .text(Array((Self.texts.randomElement(using: &random) ?? "").utf8))
            default: self = .list((0..<Int64.random(in: 0...2, using: &random)).map { ($0 + 1) % 3 })
            }
        }

        /// - Parameter prefersDouble: Whether a whole number is a `Double`, if one has its value.
        func json(prefersDouble: Bool) -> JSONValue {
            switch self {
            case .null: .null
            case .flag(let flag): .bool(flag)
            case .halves(let halves):
                if halves % 2 == 0, !prefersDouble || Double(exactly: halves) == nil {
                    .integer(halves / 2)
                } else {
                    .number(Double(halves) / 2)
                }
            case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
            case .list(let values): .array(values.map { .integer($0) })
            }
        }

        var kind: Int {
            switch self {
            case .null: 0
            case .flag: 1
            case .halves: 2
            case .text: 3
            case .list: 4
            }
        }

        static func < (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.flag(let a), .flag(let b)): !a && b
            case (.halves(let a), .halves(let b)): a < b
            case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
            case (.list(let a), .list(let b)): a.lexicographicallyPrecedes(b)
            default: left.kind < right.kind
            }
        }
    }

    struct Document: CustomStringConvertible {
        let id: String
        let values: [String: Value]
        let json: JSONValue

        init(using random: inout PredicateGenerator) {
            id = "\(random.next())"
            var values: [String: Value] = [:]
            for field in QueryOracle.fields where random.next() % 5 > 0 { values[field] = Value(using: &random) }
            self.values = values
            var (fields, nested): ([String: JSONValue], [String: JSONValue]) = ([:], [:])
            for field in QueryOracle.fields {
                let json = values[field]?.json(prefersDouble: Bool.random(using: &random))
                if field.hasPrefix("n.") { nested[String(field.dropFirst(2))] = json } else { fields[field] = json }
            }
            if random.next() % 2 == 0 || !nested.isEmpty { fields["n"] = .object(nested) }
            json = .object(fields)
        }

        var description: String { "\(id) \(values)" }
    }

    private static let fields = ["a", "b", "n.c"]

    private var conditions: [(field: String, operator: QueryOperator, values: [Value])] = []
    private var orders: [(field: String, descending: Bool)] = []
    private var start: (values: [Value], includesEqual: Bool)?
    private var end: (values: [Value], includesEqual: Bool)?
    private var limit: (count: Int, isLast: Bool)?
    private(set) var query = QueryBuilder()

    init(using random: inout PredicateGenerator) {
        for _ in 0..<random.next() % 3 { addCondition(using: &random) }
        for field in Self.fields.shuffled(using: &random).prefix(Int(random.next() % 3)) {
            orders.append((field, Bool.random(using: &random)))
            query = query.order(by: field, descending: orders[orders.count - 1].descending)
        }
        if !orders.isEmpty {
            addCursors(using: &random)
        }
        guard random.next() % 3 == 0 else { return }
        let limit = (count: Int.random(in: 1...5, using: &random), isLast: !orders.isEmpty && random.next() % 2 == 0)
        query = limit.isLast ? query.limit(toLast: limit.count) : query.limit(to: limit.count)
        self.limit = limit
    }

    private mutating func addCondition(using random: inout PredicateGenerator) {
        let field = Self.fields.randomElement(using: &random) ?? "a"
        let values = (0..<3).map { _ in Value(using: &random) }
        let elements = values.map { $0.json(prefersDouble: Bool.random(using: &random)) }
        let (first, json) = (values[0], elements[0])
        let all = Array(values.prefix(Int(random.next() % 4)))
        let listed = Array(elements.prefix(all.count))
        switch random.next() % 10 {
        case 0: add(field, .isEqualTo, [first], query.where(field, isEqualTo: json))
        case 1: add(field, .isNotEqualTo, [first], query.where(field, isNotEqualTo: json))
        case 2: add(field, .isGreaterThan, [first], query.where(field, isGreaterThan: json))
        case 3: add(field, .isGreaterThanOrEqualTo, [first], query.where(field, isGreaterThanOrEqualTo: json))
        case 4: add(field, .isLessThan, [first], query.where(field, isLessThan: json))
        case 5: add(field, .isLessThanOrEqualTo, [first], query.where(field, isLessThanOrEqualTo: json))
        case 6: add(field, .arrayContains, [.halves(2)], query.where(field, arrayContains: 1))
        case 7: add(field, .arrayContainsAny, all, query.where(field, arrayContainsAny: listed))
        case 8: add(field, .in, all, query.where(field, in: listed))
        default: add(field, .notIn, all, query.where(field, notIn: listed))
        }
    }

    private mutating func add(_ field: String, _ operator: QueryOperator, _ values: [Value], _ query: QueryBuilder) {
        conditions.append((field, `operator`, values))
        self.query = query
    }

    private mutating func addCursors(using random: inout PredicateGenerator) {
        func cursor() -> [Value] {
            (0..<Int.random(in: 1...orders.count, using: &random)).map { _ in Value(using: &random) }
        }
        func json(_ values: [Value]) -> [any DMCodableSendable] { values.map { $0.json(prefersDouble: false) } }
        if random.next() % 3 == 0 {
            let (values, includesEqual) = (cursor(), Bool.random(using: &random))
            start = (values, includesEqual)
            query = includesEqual ? query.start(at: json(values)) : query.start(after: json(values))
        }
        if random.next() % 3 == 0 {
            let (values, includesEqual) = (cursor(), Bool.random(using: &random))
            end = (values, includesEqual)
            query = includesEqual ? query.end(at: json(values)) : query.end(before: json(values))
        }
    }
}

// MARK: What it finds

extension QueryOracle {
    /// The ids of the documents that the query finds.
    func found(in documents: [Document]) -> [String] {
        var sorting = orders
        let implying: [QueryOperator] = [
            .isNotEqualTo, .notIn, .isLessThan, .isLessThanOrEqualTo, .isGreaterThan, .isGreaterThanOrEqualTo,
        ]
        for field in Self.fields where !sorting.contains(where: { $0.field == field }) {
            let isImplied = conditions.contains { $0.field == field && implying.contains($0.operator) }
            if isImplied { sorting.append((field, orders.last?.descending ?? false)) }
        }
        var rest = documents.filter { document in
            conditions.allSatisfy { meets(document.values[$0.field], $0.operator, $0.values) }
                && sorting.allSatisfy { document.values[$0.field] != nil }
        }
        var sorted: [Document] = []
        while let first = rest.indices.first(where: { index in
            !rest.indices.contains { isBefore(rest[$0], rest[index], sorting) }
        }) {
            sorted.append(rest.remove(at: first))
        }
        if let start {
            sorted = Array(
                sorted.drop { document in
                    let side = side(of: document, start.values)
                    return side < 0 || side == 0 && !start.includesEqual
                })
        }
        if let end {
            sorted = Array(
                sorted.prefix { document in
                    let side = side(of: document, end.values)
                    return side < 0 || side == 0 && end.includesEqual
                })
        }
        if let limit { sorted = limit.isLast ? sorted.suffix(limit.count) : Array(sorted.prefix(limit.count)) }
        return sorted.map(\.id)
    }

    private func meets(_ field: Value?, _ operator: QueryOperator, _ values: [Value]) -> Bool {
        guard let field else { return false }
        let isComparable = field != .null && values.first.map { $0.kind == field.kind } ?? false
        switch `operator` {
        case .isEqualTo, .in: return values.contains(field)
        case .isNotEqualTo: return field != .null && !values.contains(field)
        case .notIn: return field != .null && !values.contains(field) && !values.contains(.null)
        case .isGreaterThan: return isComparable && values[0] < field
        case .isGreaterThanOrEqualTo: return isComparable && !(field < values[0])
        case .isLessThan: return isComparable && field < values[0]
        case .isLessThanOrEqualTo: return isComparable && !(values[0] < field)
        case .arrayContains, .arrayContainsAny:
            guard case .list(let elements) = field else { return false }
            return elements.contains { values.contains(.halves($0 * 2)) }
        }
    }

    private func isBefore(_ left: Document, _ right: Document, _ sorting: [(field: String, descending: Bool)]) -> Bool {
        for (field, descending) in sorting {
            guard let a = left.values[field], let b = right.values[field], a != b else { continue }
            return descending ? b < a : a < b
        }
        // Ids are ASCII here, in which texts and bytes have one order.
        return sorting.last?.descending ?? false ? right.id < left.id : left.id < right.id
    }

    /// Negative, zero or positive as a document is before, at or behind a cursor.
    private func side(of document: Document, _ cursor: [Value]) -> Int {
        for (value, order) in zip(cursor, orders) {
            guard let own = document.values[order.field], own != value else { continue }
            return (own < value) != order.descending ? -1 : 1
        }
        return 0
    }
}
