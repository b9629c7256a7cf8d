@StorageEntity
struct User {
    var id: String
    var _position: Int
    var name: String
    var Name: String
    var updatedat: Date
    var asEntity: Int
}
