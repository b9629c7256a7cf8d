/// Notices that a remote's pages go in a circle, by two cursors however many there are: one that is kept, and the new one. The kept one
/// is exchanged after 1, 2, 4, 8 … pages, so it is part of the circle sooner or later, and comes again.
///
/// Source: Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980, section 2.
package struct PageCircle: Sendable {
    private var kept: String?
    private var pages = 0
    private var limit = 1

    package init() {}

    /// - Returns: Whether the cursor is one that came before.
    package mutating func closes(with cursor: String) -> Bool {
        if cursor == kept { return true }
        pages += 1
        if pages == limit {
            kept = cursor
            pages = 0
            limit *= 2
        }
        return false
    }
}
