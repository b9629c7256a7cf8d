@QuerySources
struct Sources {
    let waits: (Int) async throws -> QuerySource<Task>
    var throwing: QuerySource<Task> {
        get throws { try make() }
    }
    lazy var late: QuerySource<Task> = QuerySource(Task.all())
    var `Type`: QuerySource<Task> { QuerySource(Task.all()) }
    var Protocol: QuerySource<Task> { QuerySource(Task.all()) }
}
