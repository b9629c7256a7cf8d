// swift-format-ignore-file

struct Note {
    var id: String
    var action: (() -> Void)?
}
