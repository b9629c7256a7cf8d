@StorageEntity
enum Role {
    case admin
}

@StorageEntity
actor User {
    var id = ""
}

@StorageEntity
func make() {}
