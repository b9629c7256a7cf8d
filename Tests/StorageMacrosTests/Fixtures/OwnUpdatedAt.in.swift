@StorageEntity
struct User {
    var id: String
    var updatedAt: Date
    var name: String
}
