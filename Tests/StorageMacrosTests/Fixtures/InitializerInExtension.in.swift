@StorageEntity
struct User {
    var id: String
}

extension User {
    init() { id = "" }
}
