/// A call of a ``QueryBuilder``.
public enum QueryOperation: Sendable, Equatable {
    case filter(QueryFilter)
    case order(QueryOrder)
    case limit(Int)
    case limitToLast(Int)
    case startAt(QueryCursor)
    case startAfter(QueryCursor)
    case endAt(QueryCursor)
    case endBefore(QueryCursor)
}
