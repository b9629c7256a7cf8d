// swift-format-ignore-file

struct User {
    var id: String
    lazy var name: String = "a"
}
