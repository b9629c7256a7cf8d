// swift-format-ignore-file

struct Sources<Entity: RegisteredEntity> {
    var all: QuerySource<Entity> { QuerySource(Entity.all()) }
    struct Inner {
        var all: QuerySource<Entity> { QuerySource(Entity.all()) }
    }
}

extension Sources.Inner: StorageSync.QuerySourceProvider {
    static var querySourceNames: [Swift.PartialKeyPath<Sources.Inner>: Swift.String] {
        [\Sources.Inner.all: "all"]
    }
}

extension Sources: StorageSync.QuerySourceProvider {
    static var querySourceNames: [Swift.PartialKeyPath<Sources>: Swift.String] {
        [\Sources.all: "all"]
    }
}
