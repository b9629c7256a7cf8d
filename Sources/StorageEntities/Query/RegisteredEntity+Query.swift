/// An entity's own members take precedence over these: `Task.all` and `Task.Columns` mean the function, the property or
/// the type that the entity declares, wherever the entity is named. Generic code uses these. (A static property can't
/// be called `Columns`, because a name that could be a type is parsed as a type.)
extension RegisteredEntity {
    /// Returns a request for all rows, to be narrowed call by call.
    ///
    /// ```swift
    /// Task.all().filter(Task.Columns.isCompleted == true).order(by: .createdAt).limit(10)
    /// ```
    ///
    /// If the entity declares an `all` of its own, state the type of the result to choose this one:
    /// `let request: QueryRequest<Task> = Task.all()`.
    public static func all() -> QueryRequest<Self> { QueryRequest() }

    /// The columns, for conditions outside a query's closures: `Task.Columns.isCompleted == true`.
    ///
    /// An entity that is its own record declares `Columns` itself, as `NoColumns` if it has none. Inside the entity the name
    /// hides any type `Columns` of its module; qualify that type with the module's name there.
    public typealias Columns = ColumnRef<Self>
}
