// swift-format-ignore-file

struct User {
    var id: String
    var (x, y): (Int, Int)
}
