// swift-format-ignore-file
let name = "users"
struct User {
    var id: String
}
struct Visitor {
    var id: String
}
