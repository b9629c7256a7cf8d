// swift-format-ignore-file

struct User {
    var name: String
    var id: String { name }
}
struct Visitor {
    static let id = 1
}
