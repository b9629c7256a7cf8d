/// What a query asks for, apart from where it is asked.
public struct QueryRequest<E: RegisteredEntity>: Sendable {
    package var rows: RowRequest

    package init(_ rows: RowRequest = RowRequest()) { self.rows = rows }
}
