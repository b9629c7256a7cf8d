/// The limits of an answer's size and time.
struct MCPLimits: Sendable {
    /// The size of an answer's rows as JSON.
    var bytes = 64 << 10
    var seconds: Double = 30
    /// The size of an object in which only a list can be truncated.
    static let documentBytes = 32 << 20
    /// The size of the messages besides an answer.
    static let noteBytes = 4 << 10
}
