// swift-format-ignore-file

struct Note {
    var id: String
    var place: (x: Double, y: Double)
}
