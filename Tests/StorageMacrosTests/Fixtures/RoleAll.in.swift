@StorageEntity
struct User {
    var id: String
    var name: String = "nobody"
    var tries: Int = -3
    var role: Role = .guest
    var token: String = UUID().uuidString
    @StorageJSON var settings: [String: Int]  // trailing
    @StorageEmbedded(prefix: "home_") var home: Address = Address(city: "Kyiv")
    @StorageEmbedded
    var work: Address? = Address(city: "Lviv")
    @StorageHasMany(foreignKey: "authorId")
    var posts: [Post]
    var teamId: String?
    @StorageBelongsTo var team: Team?
    @StorageBelongsTo(foreignKey: "name", onDelete: .cascade) var owner: Owner?
}
