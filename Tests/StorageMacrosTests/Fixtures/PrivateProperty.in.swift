@StorageEntity
struct User {
    var id: String
    private var name: String
}
