@StorageEntity
public struct User {
    public let id: UUID
    public private(set) var name: String
    var note: String
    fileprivate var secret: String
}
