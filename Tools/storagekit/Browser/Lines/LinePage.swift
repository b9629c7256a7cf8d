/// Which lines of a screen are to be read.
enum LinePage: Equatable, Sendable {
    case first
    case last
    /// What is listed before an item, or after it.
    case before(ClosedRange<Int64>)
    case after(ClosedRange<Int64>)
    /// An item and what is listed after it.
    case at(Int64)
    /// The commit at a point, or the last before it, and what is listed after it.
    case point(PointArgument)

    /// Whether items come from the last to the first, because it is the last that are wanted.
    var isBackward: Bool {
        switch self {
        case .last, .before: true
        case .first, .after, .at, .point: false
        }
    }
}
