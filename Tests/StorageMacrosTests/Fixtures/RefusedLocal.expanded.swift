// swift-format-ignore-file
func make() {
    struct User {
        var id: String
    }
}
