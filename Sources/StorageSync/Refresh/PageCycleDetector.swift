/// Detects a cycle in a remote's pages with constant memory: it keeps one cursor to compare new ones with, and replaces
/// it after 1, 2, 4, 8 … pages, so that it eventually is part of the cycle and recurs.
///
/// Source: Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980, section 2.
package struct PageCycleDetector: Sendable {
    private var kept: String?
    private var pages = 0
    private var limit = 1

    package init() {}

    /// - Returns: Whether the cursor is a repeated one.
    package mutating func detectsCycle(at cursor: String) -> Bool {
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
