// swift-format-ignore-file

struct Box<Value: Codable> {
    var id: String
    var value: Value
}

struct Outer<Value> {
    struct Inner {
        var id: String
    }
}
