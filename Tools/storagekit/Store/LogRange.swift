/// A resolved range of history: the events after one position, up to and including another.
struct LogRange: Equatable, Sendable {
    var after: Int64
    var through: Int64

    var isEmpty: Bool { through <= after }
    /// The positions inside; only for ranges that aren't empty.
    var positions: ClosedRange<Int64> { (after + 1)...max(through, after + 1) }
}

extension LogRange: CustomStringConvertible {
    /// The range as it can be typed again.
    var description: String { "@\(after)..@\(through)" }
}
