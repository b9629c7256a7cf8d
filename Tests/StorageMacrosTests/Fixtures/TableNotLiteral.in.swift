let name = "users"

@StorageEntity(table: name)
struct User {
    var id: String
}

@StorageEntity(table: "users_\(1)")
struct Visitor {
    var id: String
}
