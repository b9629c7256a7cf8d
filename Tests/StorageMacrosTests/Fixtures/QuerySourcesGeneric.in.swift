@QuerySources
struct Sources<Entity: RegisteredEntity> {
    var all: QuerySource<Entity> { QuerySource(Entity.all()) }

    @QuerySources
    struct Inner {
        var all: QuerySource<Entity> { QuerySource(Entity.all()) }
    }
}
