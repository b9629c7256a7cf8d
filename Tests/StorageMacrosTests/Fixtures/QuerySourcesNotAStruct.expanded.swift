// swift-format-ignore-file

final class OfClass {
    var all: QuerySource<Task> { QuerySource(Task.all()) }
}
actor OfActor {
    var all: QuerySource<Task> { QuerySource(Task.all()) }
}
enum WithoutCases {
    static var all: QuerySource<Task> { QuerySource(Task.all()) }
}
enum WithCases {
    case one
}
protocol Sourcing {
    var all: QuerySource<Task> { get }
}
