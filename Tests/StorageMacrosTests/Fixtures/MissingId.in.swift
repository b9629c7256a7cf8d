@StorageEntity
struct User {
    // The name as shown.
    var name: String
}
