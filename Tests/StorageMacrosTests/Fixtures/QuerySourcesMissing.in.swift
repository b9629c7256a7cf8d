@QuerySources
struct Empty {}

@QuerySources
struct OneLine { let api: any TasksAPI }

@QuerySources
struct Others {
    let api: any TasksAPI
    private func base() -> QuerySource<Task> { QuerySource(Task.all()) }
}
