// swift-format-ignore-file

struct User {
    var id: String
    private var name: String
}
