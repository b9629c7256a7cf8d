@StorageEntity
struct Box<Value: Codable> {
    var id: String
    var value: Value
}

struct Outer<Value> {
    @StorageEntity
    struct Inner {
        var id: String
    }
}
