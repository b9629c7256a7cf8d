// swift-format-ignore-file

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

extension Sources: StorageSync.QuerySourceProvider {
    static var querySourceNames: [Swift.PartialKeyPath<Sources>: Swift.String] {
        [\Sources.stored: "stored", \Sources.first: "first", \Sources.second: "second", \Sources.qualified: "qualified", \Sources.inferred: "inferred", \Sources.sendable: "sendable", \Sources.wrapped: "wrapped", \Sources.tuple: "tuple", \Sources.replaceable: "replaceable", \Sources.watched: "watched", \Sources.`default`: "default", \Sources.`two words`: "two words"]
    }
}
