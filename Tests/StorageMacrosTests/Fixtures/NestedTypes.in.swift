@StorageEntity
struct User {
    var id: Key
    var role: Role
    var past: Box<Role>?
    var mood: Self.Mood?
    var other: Company.Role

    struct Key: RawRepresentable, Hashable, Codable {
        var rawValue: String
    }
    enum Role: String, Codable {
        case admin, guest
    }
    typealias Mood = Company.Mood
}
