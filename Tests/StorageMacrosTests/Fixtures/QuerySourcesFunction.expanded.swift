// swift-format-ignore-file

struct Sources {
    func recent() -> QuerySource<Task> { QuerySource(Task.all().limit(10)) }

    public func byPriority(_ priority: Int) -> QuerySource<Task> {
        // Kept in this order.
        let request = Task.all()

        return QuerySource(request.filter(Task.Columns.priority == priority))
    }

    func both(_ first: Int, second: Int) -> QuerySource<Task> { QuerySource(Task.all()) }
    package static func made(by id: Int) -> StorageSync.QuerySource<Task> { QuerySource(Task.all()) }
    func remote(id: Int) async throws -> QuerySource<Task> { QuerySource(Task.all()) }
    func generic<Value>(_ value: Value) -> QuerySource<Task> { QuerySource(Task.all()) }
    nonisolated func usual(_ limit: Int = 3) -> QuerySource<Task> { QuerySource(Task.all()) }
    private func helper(_ limit: Int) -> QuerySource<Task> { QuerySource(Task.all()) }
    func none() {}
}
