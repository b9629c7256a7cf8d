@QuerySources
final class OfClass {
    var all: QuerySource<Task> { QuerySource(Task.all()) }
}

@QuerySources
actor OfActor {
    var all: QuerySource<Task> { QuerySource(Task.all()) }
}

@QuerySources
enum WithoutCases {
    static var all: QuerySource<Task> { QuerySource(Task.all()) }
}

@QuerySources
enum WithCases {
    case one
}

@QuerySources
protocol Sourcing {
    var all: QuerySource<Task> { get }
}
