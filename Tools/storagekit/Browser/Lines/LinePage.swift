/// The part of a screen's lines to read.
enum LinePage: Equatable, Sendable {
    case first
    case last
    /// The lines before an item, or after it.
    case before(ClosedRange<Int64>)
    case after(ClosedRange<Int64>)
    /// An item and the lines after it.
    case at(Int64)
    /// The commit at a point, or the last one before it, and the lines after it.
    case point(PointArgument)

    /// Whether items are read from the last to the first, because the last ones are wanted.
    var isBackward: Bool {
        switch self {
        case .last, .before: true
        case .first, .after, .at, .point: false
        }
    }
}
