// swift-format-ignore-file

struct User {
    let id: String
    let kind: String = "user"
}
