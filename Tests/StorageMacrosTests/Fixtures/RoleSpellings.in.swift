@StorageEntity
struct Node {
    var id: String
    var parentId: String?
    var ownerId: String
    @StorageBelongsTo(onDelete: .setNull) var parent: Self?
    @StorageBelongsTo(onDelete: .cascade) var owner: Optional<Owner>
    @StorageBelongsTo(foreignKey: "ownerId") var updatedAt: Swift.Optional<Owner>
    @StorageHasMany(foreignKey: "parentId") var children: Array<Node>
    @StorageEmbedded var place: Place!
    @StorageEmbedded var other: Optional<Place>
    @StorageJSON var tags: Optional<[String]>
    @StorageEntity struct Owner { var id: String }
}
