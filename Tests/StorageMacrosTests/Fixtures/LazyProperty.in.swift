@StorageEntity
struct User {
    var id: String
    lazy var name: String = "a"
}
