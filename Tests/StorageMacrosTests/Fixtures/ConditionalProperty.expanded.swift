// swift-format-ignore-file

struct User {
    var id: String
    #if os(Linux)
        var name: String
    #else
        init() { id = "" }
    #endif
}
