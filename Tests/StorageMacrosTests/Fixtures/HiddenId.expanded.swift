// swift-format-ignore-file

public struct User {
    var id: String
}
public struct Visitor {
    internal let id: String
}
