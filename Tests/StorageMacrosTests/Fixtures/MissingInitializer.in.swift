@StorageEntity
struct User {
    var id: String
    var role: Role?

    enum Role: String, Codable { case admin }

    init(name: String) {
        id = name
    }  // by name
}

@StorageEntity
struct Failing {
    var id: String
    init?(id: String) { nil }
}
