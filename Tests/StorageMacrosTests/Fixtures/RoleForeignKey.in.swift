@StorageEntity
struct A {
    var id: String
    @StorageBelongsTo var parent: P?
}
