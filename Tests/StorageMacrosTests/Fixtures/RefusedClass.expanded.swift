// swift-format-ignore-file

public final class User {
    var id: String
}
