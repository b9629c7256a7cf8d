/// A request of a browser to the store.
struct ReadRequest: Sendable {
    enum Content: Sendable {
        /// Lines of a screen, up to a number.
        case page(LinePage, lines: Int)
        /// The next item with a line that contains a text, after or before an item; from an end if nil.
        case search(LineSearch, from: ClosedRange<Int64>?, forward: Bool)
        /// Applies planned changes.
        case apply(ReversalRun.Plan, reason: String)
    }

    let number: Int
    /// The screen that it is for.
    let screen: Int
    /// All open screens; data held for others can be released.
    let openScreens: Set<Int>
    let location: Location
    let content: Content
}
