@StorageEntity
struct User {
    var name: String
    var id: String { name }
}

@StorageEntity
struct Visitor {
    static let id = 1
}
