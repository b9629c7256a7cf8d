@StorageEntity
struct User {
    var id: String
    #if DEBUG
        static let sample = User(id: "1")
        var description: String { id }
        func log() {
            let text = id
            print(text)
        }
    #endif
}
