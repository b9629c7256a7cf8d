// swift-format-ignore-file

struct Empty {
    var id: String
}
struct Ours {
    var id: String
}
struct Theirs {
    var id: String
}
struct Cut {
    var id: String
}
struct Storage_User {
    var id: String
}
