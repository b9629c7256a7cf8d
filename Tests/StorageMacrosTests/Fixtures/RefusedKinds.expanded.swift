// swift-format-ignore-file

enum Role {
    case admin
}
actor User {
    var id = ""
}
func make() {}
