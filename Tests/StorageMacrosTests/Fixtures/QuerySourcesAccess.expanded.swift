// swift-format-ignore-file
@available(macOS 16, *)
public struct Shown {
    public var all: QuerySource<Task> { QuerySource(Task.all()) }
    var own: QuerySource<Task> { QuerySource(Task.all()) }
}
nonisolated package struct Inside {
    var all: QuerySource<Task> { QuerySource(Task.all()) }
}
private struct Hidden {
    fileprivate var all: QuerySource<Task> { QuerySource(Task.all()) }
}

public enum Feature {
    struct Sources {
        var all: QuerySource<Task> { QuerySource(Task.all()) }
    }
}

public extension Feature {
    struct More {
        var all: QuerySource<Task> { QuerySource(Task.all()) }
    }
}

@available(macOS 16, *)
extension Shown: StorageSync.QuerySourceProvider {
    public static var querySourceNames: [Swift.PartialKeyPath<Shown>: Swift.String] {
        [\Shown.all: "all", \Shown.own: "own"]
    }
}

nonisolated extension Inside: StorageSync.QuerySourceProvider {
    package static var querySourceNames: [Swift.PartialKeyPath<Inside>: Swift.String] {
        [\Inside.all: "all"]
    }
}

extension Hidden: StorageSync.QuerySourceProvider {
    fileprivate static var querySourceNames: [Swift.PartialKeyPath<Hidden>: Swift.String] {
        [\Hidden.all: "all"]
    }
}

extension Feature.Sources: StorageSync.QuerySourceProvider {
    static var querySourceNames: [Swift.PartialKeyPath<Feature.Sources>: Swift.String] {
        [\Feature.Sources.all: "all"]
    }
}

extension Feature.More: StorageSync.QuerySourceProvider {
    public static var querySourceNames: [Swift.PartialKeyPath<Feature.More>: Swift.String] {
        [\Feature.More.all: "all"]
    }
}
