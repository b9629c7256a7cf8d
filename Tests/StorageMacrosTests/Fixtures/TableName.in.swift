@StorageEntity(table: "app \"users\"")
struct User {
    var id: String
}

@StorageEntity(table: nil)
struct Visitor {
    var id: String
}
