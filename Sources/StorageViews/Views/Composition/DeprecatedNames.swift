public import StorageEntities

@available(*, deprecated, renamed: "QuerySubscription")
public typealias SimpleQuerySubscription<Entity: RegisteredEntity> = QuerySubscription<Entity>
@available(*, deprecated, renamed: "QuerySubscription")
public typealias BasicQuerySubscription<Entity: RegisteredEntity> = QuerySubscription<Entity>
@available(*, deprecated, renamed: "SingleQuerySubscription")
public typealias SimpleSingleQuerySubscription<Entity: RegisteredEntity> = SingleQuerySubscription<Entity>
@available(*, deprecated, renamed: "SingleQuerySubscription")
public typealias BasicSingleQuerySubscription<Entity: RegisteredEntity> = SingleQuerySubscription<Entity>
@available(*, deprecated, renamed: "CountSubscription")
public typealias SimpleCountSubscription<Entity: RegisteredEntity> = CountSubscription<Entity>
@available(*, deprecated, renamed: "CountSubscription")
public typealias BasicCountSubscription<Entity: RegisteredEntity> = CountSubscription<Entity>
