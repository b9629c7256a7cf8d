@available(macOS 16, *)
@QuerySources
public struct Shown {
    public var all: QuerySource<Task> { QuerySource(Task.all()) }
    var own: QuerySource<Task> { QuerySource(Task.all()) }
}

@QuerySources
nonisolated package struct Inside {
    var all: QuerySource<Task> { QuerySource(Task.all()) }
}

@QuerySources
private struct Hidden {
    fileprivate var all: QuerySource<Task> { QuerySource(Task.all()) }
}

public enum Feature {
    @QuerySources
    struct Sources {
        var all: QuerySource<Task> { QuerySource(Task.all()) }
    }
}

public extension Feature {
    @QuerySources
    struct More {
        var all: QuerySource<Task> { QuerySource(Task.all()) }
    }
}
