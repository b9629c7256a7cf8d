@StorageEntity
public struct Post {
    public var id: Int
    public var authorId: String
    @StorageBelongsTo(onDelete: .setNull) public var author: User?
}
