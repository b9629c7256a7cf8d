@QuerySources
struct Sources {
    let stored: QuerySource<Task>
    let first, second: QuerySource<Task>, other: Int
    var qualified: StorageSync.QuerySource<Models.Task> { QuerySource(Task.all()) }
    var inferred: QuerySource = QuerySource(Task.all())
    let sendable: @Sendable (Int) -> QuerySource<Task>
    let wrapped: ((Int) -> (StorageSync.QuerySource<Task>))
    let tuple: ((Filter) -> QuerySource<Task>)
    private(set) var replaceable: QuerySource<Task>
    var watched: QuerySource<Task> { didSet { print(oldValue) } }
    var `default`, `two words`: QuerySource<Task>
    var optional: QuerySource<Task>?
    var list: [QuerySource<Task>]
    var foreign: Other.Nested.QuerySource<Task>
}
