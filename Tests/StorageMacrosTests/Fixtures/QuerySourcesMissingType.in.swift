@QuerySources
struct Sources {
    let all = QuerySource(Task.all().order(by: .createdAt).limit(10)).cache(.localOnly)
    let named = QuerySource<Task>(request), qualified = StorageSync.QuerySource(Models.Task.all())
    let other = QuerySource.init(request)
    let byPriority = { (priority: Int) in
        return QuerySource(Task.all()).remote { [] }
    }
    let stated = { (priority: Int) -> QuerySource<Task> in make(priority) }
    let untyped = { priority in QuerySource(request.limit(priority)) }
    let nothing = Date()
}
