/// An entity's own members take precedence over these: `Task.all` and `Task.Columns` mean the function, the property or
/// the type that the entity declares, wherever the entity is named. Generic code uses these. (A static property can't
/// be called `Columns`, because a name that could be a type is parsed as a type.)
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
    /// An entity that is its own record declares its `Columns`, `NoColumns` if it has none. Inside an entity the name
    /// shadows a type `Columns` of its module, which must be qualified with the module's name there.
    public typealias Columns = ColumnRef<Self>
}
