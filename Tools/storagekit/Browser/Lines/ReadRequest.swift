/// What a browser wants from the store.
struct ReadRequest: Sendable {
    enum Content: Sendable {
        /// Lines of a screen, at most so many.
        case page(LinePage, lines: Int)
        /// The next item of which a line contains a text, after an item or before it; from an end where nil.
        case search(LineSearch, from: ClosedRange<Int64>?, forward: Bool)
        /// The changes that were planned, made for real.
        case apply(ReversalRun.Plan, reason: String)
    }

    let number: Int
    /// The screen that it is for.
    let screen: Int
    /// All screens that are open; what is held for others isn't needed any more.
    let openScreens: Set<Int>
    let location: Location
    let content: Content
}
