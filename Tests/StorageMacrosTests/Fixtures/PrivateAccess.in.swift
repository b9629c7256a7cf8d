@StorageEntity
private struct User {
    var id: String
    fileprivate var name: String
}
