@StorageEntity
struct `Type` {
    var id: String
    var `class`: String
    var `let`: Int
    var `in`, `two words`: Int
}
