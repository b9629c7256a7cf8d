/// An operation of a query, as a method of ``QueryBuilder`` adds it.
public enum QueryOperation: Sendable, Equatable {
    /// Adds a condition.
    case filter(QueryFilter)
    /// Adds an order.
    case order(QueryOrder)
    /// Limits the result to the first documents.
    case limit(Int)
    /// Limits the result to the last documents.
    case limitToLast(Int)
    /// Begins the result at a cursor.
    case startAt(QueryCursor)
    /// Begins the result after a cursor.
    case startAfter(QueryCursor)
    /// Ends the result at a cursor.
    case endAt(QueryCursor)
    /// Ends the result before a cursor.
    case endBefore(QueryCursor)
}
