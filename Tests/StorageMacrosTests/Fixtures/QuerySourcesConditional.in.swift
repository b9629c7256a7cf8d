@QuerySources
struct Sources {
    var all: QuerySource<Task> { QuerySource(Task.all()) }
    #if DEBUG
        var broken: QuerySource<Task> { QuerySource(Task.all()) }
    #elseif os(Linux)
        let other: Int
    #endif
    #if os(macOS)
        let title = "Mac"
        var count: Int { 3 }
    #endif
}
