@QuerySources
struct Sources {
    static var all: QuerySource<Task> { QuerySource(Task.all()) }
    public static let by: (Int) -> QuerySource<Task> = { _ in QuerySource(Task.all()) }
}
