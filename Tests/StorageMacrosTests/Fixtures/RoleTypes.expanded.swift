// swift-format-ignore-file

struct A {
    var id: String
    var children: B
    var parentId: String
    var parent: P
}
