@StorageEntity
struct User {
    var id: String
    var a: Int?
    var b: Int!
    var c: Optional<Int>
    var d: (any Codable)?
    var e: any Codable & Sendable
}
