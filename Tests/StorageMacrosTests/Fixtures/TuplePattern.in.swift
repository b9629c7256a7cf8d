@StorageEntity
struct User {
    var id: String
    var (x, y): (Int, Int)
}
