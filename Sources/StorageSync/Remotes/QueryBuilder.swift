/// A query of a remote collection: conditions, orders, a limit and cursors.
///
/// ```swift
/// let query = QueryBuilder()
///     .where("category", isEqualTo: "electronics")
///     .order(by: "price", descending: true)
///     .limit(to: 10)
/// ```
///
/// Each method returns a changed copy. The values of conditions and cursors may be anything that can be encoded as
/// JSON. All conditions have to be met. If there are several limits, only the last one counts; the same applies to
/// start cursors and to end cursors.
///
/// How a query is evaluated is up to the remote. ``MockRemoteCollectionService`` follows Firestore.
public struct QueryBuilder: Sendable, Equatable {
    private var operations: [QueryOperation] = []

    /// Creates a query that matches all documents.
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
    /// Matches documents whose field equals a value.
    public func `where`(_ field: String, isEqualTo value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isEqualTo, value)
    }

    /// Matches documents whose field exists and has another value.
    public func `where`(_ field: String, isNotEqualTo value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isNotEqualTo, value)
    }

    /// Matches documents whose field is greater than a value of the same kind.
    public func `where`(_ field: String, isGreaterThan value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isGreaterThan, value)
    }

    /// Matches documents whose field is greater than or equal to a value of the same kind.
    public func `where`(_ field: String, isGreaterThanOrEqualTo value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isGreaterThanOrEqualTo, value)
    }

    /// Matches documents whose field is less than a value of the same kind.
    public func `where`(_ field: String, isLessThan value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isLessThan, value)
    }

    /// Matches documents whose field is less than or equal to a value of the same kind.
    public func `where`(_ field: String, isLessThanOrEqualTo value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .isLessThanOrEqualTo, value)
    }

    /// Matches documents whose field is an array that contains a value.
    public func `where`(_ field: String, arrayContains value: any DMCodableSendable) -> QueryBuilder {
        filtering(field, by: .arrayContains, value)
    }

    /// Matches documents whose field is an array that contains at least one of the values.
    public func `where`<V: DMCodableSendable>(_ field: String, arrayContainsAny values: [V]) -> QueryBuilder {
        filtering(field, by: .arrayContainsAny, values)
    }

    /// Matches documents whose field equals one of the values.
    public func `where`<V: DMCodableSendable>(_ field: String, in values: [V]) -> QueryBuilder {
        filtering(field, by: .in, values)
    }

    /// Matches documents whose field exists and has none of the values.
    public func `where`<V: DMCodableSendable>(_ field: String, notIn values: [V]) -> QueryBuilder {
        filtering(field, by: .notIn, values)
    }
}

// MARK: Orders, limits and cursors

extension QueryBuilder {
    /// Sorts by a field, after the fields of earlier orders. Documents without the field don't match.
    public func order(by field: String) -> QueryBuilder { order(by: field, descending: false) }

    /// Sorts by a field, after the fields of earlier orders. Documents without the field don't match.
    public func order(by field: String, descending: Bool) -> QueryBuilder {
        adding(.order(QueryOrder(field: field, descending: descending)))
    }

    /// Limits the result to the first documents.
    ///
    /// - Parameter value: The maximum number, at least 1.
    public func limit(to value: Int) -> QueryBuilder { adding(.limit(value)) }

    /// Limits the result to the last documents, in the same order. Requires an order.
    ///
    /// - Parameter value: The maximum number, at least 1.
    public func limit(toLast value: Int) -> QueryBuilder { adding(.limitToLast(value)) }

    /// Begins the result at a cursor.
    ///
    /// - Parameter values: A value for each order, in their order; trailing ones may be omitted.
    public func start(at values: [any DMCodableSendable]) -> QueryBuilder {
        adding(.startAt(QueryCursor(values: values)))
    }

    /// Begins the result after a cursor.
    ///
    /// - Parameter values: A value for each order, in their order; trailing ones may be omitted.
    public func start(after values: [any DMCodableSendable]) -> QueryBuilder {
        adding(.startAfter(QueryCursor(values: values)))
    }

    /// Ends the result at a cursor.
    ///
    /// - Parameter values: A value for each order, in their order; trailing ones may be omitted.
    public func end(at values: [any DMCodableSendable]) -> QueryBuilder { adding(.endAt(QueryCursor(values: values))) }

    /// Ends the result before a cursor.
    ///
    /// - Parameter values: A value for each order, in their order; trailing ones may be omitted.
    public func end(before values: [any DMCodableSendable]) -> QueryBuilder {
        adding(.endBefore(QueryCursor(values: values)))
    }
}

// MARK: Operations

extension QueryBuilder {
    /// Returns all operations, in their order.
    public func getOperations() -> [QueryOperation] { operations }

    /// Returns the conditions, in their order.
    public func getFilters() -> [QueryFilter] {
        operations.compactMap { if case .filter(let filter) = $0 { filter } else { nil } }
    }

    /// Returns the orders, in their order.
    public func getOrders() -> [QueryOrder] {
        operations.compactMap { if case .order(let order) = $0 { order } else { nil } }
    }

    /// Returns the number given to the last `limit(to:)`; nil if there is none.
    public func getLimit() -> Int? { last { if case .limit(let value) = $0 { value } else { nil } } }

    /// Returns the number given to the last `limit(toLast:)`; nil if there is none.
    public func getLimitToLast() -> Int? { last { if case .limitToLast(let value) = $0 { value } else { nil } } }

    /// Returns the values given to the last `start(at:)`; nil if there is none.
    public func getStartAt() -> [any DMCodableSendable]? {
        last { if case .startAt(let cursor) = $0 { cursor.values } else { nil } }
    }

    /// Returns the values given to the last `start(after:)`; nil if there is none.
    public func getStartAfter() -> [any DMCodableSendable]? {
        last { if case .startAfter(let cursor) = $0 { cursor.values } else { nil } }
    }

    /// Returns the values given to the last `end(at:)`; nil if there is none.
    public func getEndAt() -> [any DMCodableSendable]? {
        last { if case .endAt(let cursor) = $0 { cursor.values } else { nil } }
    }

    /// Returns the values given to the last `end(before:)`; nil if there is none.
    public func getEndBefore() -> [any DMCodableSendable]? {
        last { if case .endBefore(let cursor) = $0 { cursor.values } else { nil } }
    }

    private func last<Value>(_ value: (QueryOperation) -> Value?) -> Value? {
        for operation in operations.reversed() { if let value = value(operation) { return value } }
        return nil
    }
}
