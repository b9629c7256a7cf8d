internal import StorageCore

/// Evaluates a query on documents: fields as paths, values as JSON. See ``QueryBuilder/apply(to:)`` for the rules.
package struct QueryEvaluation: Sendable {
    private let filters: [FilterEvaluation]
    /// The fields that documents are sorted by: the query's orders, and those that its conditions imply.
    private let orders: [(path: [String], isDescending: Bool)]
    private let start: Bound?
    private let end: Bound?
    let limit: Int?
    let isLimitedToLast: Bool

    /// The beginning or end of a result.
    private struct Bound {
        let values: [JSONValue]
        let includesEqual: Bool
    }

    /// - Throws: `StorageError` with the code `invalid-argument` for an invalid query, and with `invalidValue` for a
    ///   value that can't be encoded as JSON.
    package init(_ query: QueryBuilder) throws {
        let filters = query.getFilters()
        self.filters = try filters.map { try FilterEvaluation($0) }
        let orders = query.getOrders()
        let named = Set(orders.map(\.field))
        let implied = Set(filters.filter(\.operator.impliesOrder).map(\.field)).subtracting(named)
        let isDescending = orders.last?.descending ?? false
        let others = implied.sorted { JSONValue.order($0, $1) < 0 }
            .map { QueryOrder(field: $0, descending: isDescending) }
        self.orders = (orders + others).map { (path: $0.field.fieldPath, isDescending: $0.descending) }

        var (start, end): (Bound?, Bound?)
        var limit: Int?
        var isLimitedToLast = false
        for operation in query.getOperations() {
            switch operation {
            case .filter, .order: break
            case .limit(let count): (limit, isLimitedToLast) = (count, false)
            case .limitToLast(let count): (limit, isLimitedToLast) = (count, true)
            case .startAt(let cursor): start = try Self.bound(cursor, orders, includesEqual: true)
            case .startAfter(let cursor): start = try Self.bound(cursor, orders, includesEqual: false)
            case .endAt(let cursor): end = try Self.bound(cursor, orders, includesEqual: true)
            case .endBefore(let cursor): end = try Self.bound(cursor, orders, includesEqual: false)
            }
        }
        if let limit, limit < 1 { throw StorageError.limitTooSmall(limit) }
        if isLimitedToLast, orders.isEmpty { throw StorageError.limitToLastWithoutOrder() }
        (self.start, self.end, self.limit, self.isLimitedToLast) = (start, end, limit, isLimitedToLast)
    }

    /// A query that each document matches or doesn't, independently of others.
    ///
    /// - Throws: As ``init(_:)``; `invalid-argument` for one with a limit or a cursor.
    package init(listening query: QueryBuilder) throws {
        try self.init(query)
        guard limit == nil, start == nil, end == nil else { throw StorageError.windowListenedTo() }
    }

    private static func bound(_ cursor: QueryCursor, _ orders: [QueryOrder], includesEqual: Bool) throws -> Bound {
        guard cursor.values.count >= 1, cursor.values.count <= orders.count else {
            throw StorageError.cursorWithoutOrders(values: cursor.values.count, orders: orders.count)
        }
        return Bound(values: try cursor.values.map { try JSONValue(encoding: $0) }, includesEqual: includesEqual)
    }

    /// Whether a document matches the query, ignoring limits.
    ///
    /// - Parameter document: Created with ``JSONValue/init(encoding:)``, so that dates are numbers, like the query's.
    package func matches(_ document: JSONValue) -> Bool { sortKey(of: document) != nil }

    /// The documents that match the query, in its order.
    ///
    /// - Complexity: O(*n* log *n*) in the number of documents.
    package func select<Document>(from documents: [(document: Document, id: String, json: JSONValue)]) -> [Document] {
        var selection = QuerySelection<Document>(self)
        for (document, id, json) in documents { selection.add(document, id: id, json: json) }
        selection.cut()
        return selection.documents
    }

    /// The documents that match the query, in its order. Those that can't be written as JSON can't be compared, and are left
    /// out: one of them must not hide all others.
    package func select<T: DataSyncModelProtocol>(from documents: [T]) -> [T] {
        select(
            from: documents.compactMap { document in
                (try? JSONValue(encoding: document)).map { (document: document, id: document.id, json: $0) }
            })
    }

    /// The sort key of a document; nil if it doesn't match the query.
    func sortKey(of document: JSONValue) -> [JSONValue]? {
        guard filters.allSatisfy({ $0.matches(document) }) else { return nil }
        var sortKey: [JSONValue] = []
        for order in orders {
            guard let value = document[order.path] else { return nil }
            sortKey.append(value)
        }
        if let start {
            let order = self.order(sortKey, start.values)
            guard order > 0 || order == 0 && start.includesEqual else { return nil }
        }
        if let end {
            let order = self.order(sortKey, end.values)
            guard order < 0 || order == 0 && end.includesEqual else { return nil }
        }
        return sortKey
    }

    /// Compares as many values as both have.
    private func order(_ left: [JSONValue], _ right: [JSONValue]) -> Int {
        for (values, order) in zip(zip(left, right), orders) {
            let result = JSONValue.order(values.0, values.1)
            if result != 0 { return order.isDescending ? -result : result }
        }
        return 0
    }

    /// Whether a document sorts before another one.
    func isBefore(_ left: (sortKey: [JSONValue], id: String), _ right: (sortKey: [JSONValue], id: String)) -> Bool {
        let order = order(left.sortKey, right.sortKey)
        if order != 0 { return order < 0 }
        let ids = JSONValue.order(left.id, right.id)
        return orders.last?.isDescending ?? false ? ids > 0 : ids < 0
    }
}

extension QueryOperator {
    /// Whether Firestore sorts by the field of such a condition if the query doesn't specify an order.
    fileprivate var impliesOrder: Bool {
        switch self {
        case .isEqualTo, .arrayContains, .arrayContainsAny, .in: false
        case .isNotEqualTo, .notIn, .isGreaterThan, .isGreaterThanOrEqualTo, .isLessThan, .isLessThanOrEqualTo: true
        }
    }
}

extension StorageError {
    fileprivate static func limitTooSmall(_ limit: Int) -> StorageError {
        StorageError(
            .invalidArgument, "A query is limited to \(limit) documents.",
            remedy: "Use a limit of at least 1, or make no request.")
    }

    fileprivate static func windowListenedTo() -> StorageError {
        StorageError(
            .invalidArgument,
            "A query with a limit or a cursor can't be listened to: which documents it finds depends on others.",
            remedy: "Listen with conditions only, or fetch a page with getDocumentsAsync(buildQuery:).")
    }

    fileprivate static func limitToLastWithoutOrder() -> StorageError {
        StorageError(
            .invalidArgument, "A limit to the last documents requires an order.", remedy: "Give it an order(by:)."
        )
    }

    fileprivate static func cursorWithoutOrders(values: Int, orders: Int) -> StorageError {
        StorageError(
            .invalidArgument, "A cursor of a query has \(values) values, and the query has \(orders) orders.",
            remedy: "Give the cursor a value at least, and the query an order(by:) for each.")
    }
}
