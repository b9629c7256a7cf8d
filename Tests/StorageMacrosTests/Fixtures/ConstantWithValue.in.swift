@StorageEntity
struct User {
    let id: String
    let kind: String = "user"
}
