@StorageEntity
struct User {
    var id: String?
}
