@StorageEntity
struct A {
    var id: String
    @StorageHasMany(foreignKey: "aId") var children: B
    var parentId: String
    @StorageBelongsTo var parent: P
}
