@StorageEntity
struct User {
    var id: String
    var name: String
    var age: Int?
}
