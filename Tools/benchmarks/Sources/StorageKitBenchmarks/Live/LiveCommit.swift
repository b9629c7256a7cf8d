/// One transaction of a live benchmark.
struct LiveCommit: Sendable {
    /// Who must show it.
    enum Audience: Sendable {
        case nobody
        case view(Int)
        case everybody
    }

    var saved: [Person] = []
    var deleted: [String] = []
    var documents: [Document] = []
    var audience = Audience.nobody
    var sign = LiveSign.anything
}
