// swift-format-ignore-file

struct A {
    var id: String
    var both: Address
}
