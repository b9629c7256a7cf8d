// swift-format-ignore-file

struct Note {
    var id: String
    #if DEBUG
        @StorageJSON
    #endif
    var tags: [String]
    #if DEBUG
        @available(*, deprecated)
    #endif
    var text: String
}
