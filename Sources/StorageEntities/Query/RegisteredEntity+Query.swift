/// Members of an entity's own win over these: `Task.all` and `Task.Columns` mean the function, the property or the type
/// that the entity declares, wherever the entity is named. In generic code, where it isn't, they are these. (A static
/// property can't be called `Columns`, as a name that could be a type is taken for the type.)
extension RegisteredEntity {
    /// A request for all rows, to be narrowed call by call.
    ///
    /// ```swift
    /// Task.all().filter(Task.Columns.isCompleted == true).order(by: .createdAt).limit(10)
    /// ```
    ///
    /// Where an entity has an `all` of its own, the type of the result distinguishes them:
    /// `let request: QueryRequest<Task> = Task.all()`.
    public static func all() -> QueryRequest<Self> { QueryRequest() }

    /// The columns, for conditions outside of a query's closures: `Task.Columns.isCompleted == true`.
    ///
    /// An entity that is its own record says which `Columns` it has, `NoColumns` where it has none. Inside of an entity
    /// the name comes before a type `Columns` of its module, which needs the module's name before it there.
    public typealias Columns = ColumnRef<Self>
}
