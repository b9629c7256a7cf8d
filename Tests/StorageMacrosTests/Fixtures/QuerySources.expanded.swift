// swift-format-ignore-file

struct TaskSources {
    let api: any TasksAPI

    var all: QuerySource<Task> {
        QuerySource(Task.all().order(by: .createdAt))
            .remote { try await api.fetchAll() }
    }

    var byPriority: (Int) -> QuerySource<Task> {
        { priority in QuerySource(Task.all().filter(Task.Columns.priority == priority)) }
    }

    var count: Int { 3 }
    static let shared = TaskSources(api: LiveAPI())
    private func base() -> QuerySource<Task> { QuerySource(Task.all()) }
}

extension TaskSources: StorageSync.QuerySourceProvider {
    static var querySourceNames: [Swift.PartialKeyPath<TaskSources>: Swift.String] {
        [\TaskSources.all: "all", \TaskSources.byPriority: "byPriority"]
    }
}
