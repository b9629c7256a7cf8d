@StorageEntity(table: "")
struct Empty {
    var id: String
}

@StorageEntity(table: "Storage_users")
struct Ours {
    var id: String
}

@StorageEntity(table: "sqlite_users")
struct Theirs {
    var id: String
}

@StorageEntity(table: "a\0b")
struct Cut {
    var id: String
}

@StorageEntity
struct Storage_User {
    var id: String
}
