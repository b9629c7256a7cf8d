@StorageEntity
public struct User {
    var id: String
}

@StorageEntity
public struct Visitor {
    internal let id: String
}
