@StorageEntity
struct E {
    var id: String
}
