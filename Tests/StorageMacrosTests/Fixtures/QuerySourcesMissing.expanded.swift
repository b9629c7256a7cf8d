// swift-format-ignore-file

struct Empty {}
struct OneLine { let api: any TasksAPI 
}
struct Others {
    let api: any TasksAPI
    private func base() -> QuerySource<Task> { QuerySource(Task.all()) }
}
