/// A query of a remote collection: conditions, orders, a limit and cursors, in the order in which they were said.
///
/// ```swift
/// let query = QueryBuilder()
///     .where("category", isEqualTo: "electronics")
///     .order(by: "price", descending: true)
///     .limit(to: 10)
/// ```
///
/// A value: each method returns a changed copy, and the query itself stays as it is. Values of conditions and cursors are
/// anything that can be written as JSON. All conditions have to be met. Of several limits the last one counts, and so it is
/// with cursors that begin a result, and with those that end it.
///
/// What a query finds is up to the remote. ``MockRemoteCollectionService`` follows Firestore.
public struct QueryBuilder: Sendable, Equatable {
    private var operations: [QueryOperation] = []

    /// A query that finds all documents.
    public init() {}

    mutating func append(_ operation: QueryOperation) { operations.append(operation) }

    private func adding(_ operation: QueryOperation) -> QueryBuilder {
        var copy = self
        copy.append(operation)
        return copy
    }

    private func filtering(
        _ field: String, by operator: QueryOperator, _ value: any DMCodableSendable
    ) -> QueryBuilder {
        adding(.filter(QueryFilter(field: field, operator: `operator`, value: value)))
    }
}

// MARK: Conditions

extension QueryBuilder {
    /// Documents whose field equals a value.
    public func `where`(_ field: String, isEqualTo value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isEqualTo, value)
    }

    /// Documents that have the field, with another value.
    public func `where`(_ field: String, isNotEqualTo value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isNotEqualTo, value)
    }

    /// Documents whose field is greater than a value of the same kind.
    public func `where`(_ field: String, isGreaterThan value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isGreaterThan, value)
    }

    /// Documents whose field is a value of the same kind, or greater.
    public func `where`(_ field: String, isGreaterThanOrEqualTo value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isGreaterThanOrEqualTo, value)
    }

    /// Documents whose field is less than a value of the same kind.
    public func `where`(_ field: String, isLessThan value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isLessThan, value)
    }

    /// Documents whose field is a value of the same kind, or less.
    public func `where`(_ field: String, isLessThanOrEqualTo value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isLessThanOrEqualTo, value)
    }

    /// Documents whose field is an array with a value in it.
    public func `where`(_ field: String, arrayContains value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .arrayContains, value)
    }

    /// Documents whose field is an array with at least one of the values in it.
    public func `where`<V: DMCodableSendable>(_ field: String, arrayContainsAny values: [V]) -> QueryBuilder {
        filtering(field, by: .arrayContainsAny, values)
    }

    /// Documents whose field equals one of the values.
    public func `where`<V: DMCodableSendable>(_ field: String, in values: [V]) -> QueryBuilder {
        filtering(field, by: .in, values)
    }

    /// Documents that have the field, with none of the values.
    public func `where`<V: DMCodableSendable>(_ field: String, notIn values: [V]) -> QueryBuilder {
        filtering(field, by: .notIn, values)
    }
}

// MARK: Orders, limits and cursors

extension QueryBuilder {
    /// Sorts by a field, behind the orders said before. Documents without it aren't found.
    public func order(by field: String) -> QueryBuilder { order(by: field, descending: false) }

    /// Sorts by a field, behind the orders said before. Documents without it aren't found.
    public func order(by field: String, descending: Bool) -> QueryBuilder {
        adding(.order(QueryOrder(field: field, descending: descending)))
    }

    /// The first so many documents.
    ///
    /// - Parameter value: 1 or more.
    public func limit(to value: Int) -> QueryBuilder { adding(.limit(value)) }

    /// The last so many documents, in the same order. Needs an order.
    ///
    /// - Parameter value: 1 or more.
    public func limit(toLast value: Int) -> QueryBuilder { adding(.limitToLast(value)) }

    /// Begins with the documents at a cursor.
    ///
    /// - Parameter values: One for each order, or for the first of them.
    public func start(at values: [any DMCodableSendable]) -> QueryBuilder {
        adding(.startAt(QueryCursor(values: values)))
    }

    /// Begins after the documents at a cursor.
    ///
    /// - Parameter values: One for each order, or for the first of them.
    public func start(after values: [any DMCodableSendable]) -> QueryBuilder {
        adding(.startAfter(QueryCursor(values: values)))
    }

    /// Ends with the documents at a cursor.
    ///
    /// - Parameter values: One for each order, or for the first of them.
    public func end(at values: [any DMCodableSendable]) -> QueryBuilder { adding(.endAt(QueryCursor(values: values))) }

    /// Ends before the documents at a cursor.
    ///
    /// - Parameter values: One for each order, or for the first of them.
    public func end(before values: [any DMCodableSendable]) -> QueryBuilder {
        adding(.endBefore(QueryCursor(values: values)))
    }
}

// MARK: What was said

extension QueryBuilder {
    /// All that was said, in its order.
    public func getOperations() -> [QueryOperation] { operations }

    /// The conditions, in their order.
    public func getFilters() -> [QueryFilter] {
        operations.compactMap { if case .filter(let filter) = $0 { filter } else { nil } }
    }

    /// The orders, in their order.
    public func getOrders() -> [QueryOrder] {
        operations.compactMap { if case .order(let order) = $0 { order } else { nil } }
    }

    /// The last `limit(to:)`; nil where there was none.
    public func getLimit() -> Int? { last { if case .limit(let value) = $0 { value } else { nil } } }

    /// The last `limit(toLast:)`; nil where there was none.
    public func getLimitToLast() -> Int? { last { if case .limitToLast(let value) = $0 { value } else { nil } } }

    /// The last `start(at:)`; nil where there was none.
    public func getStartAt() -> [any DMCodableSendable]? {
        last { if case .startAt(let cursor) = $0 { cursor.values } else { nil } }
    }

    /// The last `start(after:)`; nil where there was none.
    public func getStartAfter() -> [any DMCodableSendable]? {
        last { if case .startAfter(let cursor) = $0 { cursor.values } else { nil } }
    }

    /// The last `end(at:)`; nil where there was none.
    public func getEndAt() -> [any DMCodableSendable]? {
        last { if case .endAt(let cursor) = $0 { cursor.values } else { nil } }
    }

    /// The last `end(before:)`; nil where there was none.
    public func getEndBefore() -> [any DMCodableSendable]? {
        last { if case .endBefore(let cursor) = $0 { cursor.values } else { nil } }
    }

    private func last<Value>(_ value: (QueryOperation) -> Value?) -> Value? {
        for operation in operations.reversed() { if let value = value(operation) { return value } }
        return nil
    }
}
