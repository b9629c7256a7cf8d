@StorageEntity
struct User {
    var id: String
    var name: String

    init(from decoder: any Decoder) throws {
        fatalError()
    }

    init(id: String, name: String, greeting: String = "") {
        self.id = id
        self.name = name
    }
}
