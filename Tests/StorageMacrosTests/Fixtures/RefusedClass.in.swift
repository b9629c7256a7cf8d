@StorageEntity
public final class User {
    var id: String
}
