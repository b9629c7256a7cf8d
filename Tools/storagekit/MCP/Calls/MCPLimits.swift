/// How large an answer may be, and how long it may take.
struct MCPLimits: Sendable {
    /// Of the rows of an answer, in JSON.
    var bytes = 64 << 10
    var seconds: Double = 30
    /// Of an object of which only a list may be cut.
    static let documentBytes = 32 << 20
    /// Of what is said beside an answer.
    static let noteBytes = 4 << 10
}
