// swift-format-ignore-file

struct Sources {
    private var all: QuerySource<Task> { QuerySource(Task.all()) }
    fileprivate let by: (Int) -> QuerySource<Task>
}
fileprivate struct OfTheFile {
    fileprivate var seen: QuerySource<Task> { QuerySource(Task.all()) }
    private var hidden: QuerySource<Task> { QuerySource(Task.all()) }
}
