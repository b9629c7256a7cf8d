// swift-format-ignore-file

struct Note {
    var id: String
    var tags: [String]
    var marks: Swift.Set<Int>?
    private(set) var scores: [String: Double] = [:]
    var title: String
}
