/// What a query asks for, apart from where it is asked. It is put together by the calls of a query, and asks nothing
/// itself.
///
/// ```swift
/// let request = Task.all().filter(Task.Columns.isCompleted == true).order(by: .createdAt).limit(10)
/// var query = storage.query(Task.self)
/// query.request = request
/// let tasks = try await query.fetch()
/// ```
public struct QueryRequest<E: RegisteredEntity>: EntityQuery, Sendable {
    package var rows: RowRequest

    package init(_ rows: RowRequest = RowRequest()) { self.rows = rows }

    /// The query itself.
    public var request: QueryRequest<E> {
        get { self }
        set { self = newValue }
    }
}
