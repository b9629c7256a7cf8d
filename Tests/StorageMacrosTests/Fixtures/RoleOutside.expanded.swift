// swift-format-ignore-file
struct A {
    var settings: [String: Int]
}
