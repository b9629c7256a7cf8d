// swift-format-ignore-file

struct E {
    var id: String
}
