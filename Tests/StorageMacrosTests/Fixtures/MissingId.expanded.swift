// swift-format-ignore-file

struct User {
    // The name as shown.
    var name: String
}
