/// The selectivity of anchors, as estimates of how many rows of a table share one: only their order matters.
enum AnchorCost {
    /// The primary key's value.
    static let key = 1
    /// A value of another column, also as a range from it to itself.
    static let value = 8
    /// A word of a text.
    static let word = 32
    static let closedRange = 128
    static let null = 512
    /// A range with one end.
    static let openRange = 4_096

    /// A text's beginning: the longer, the better.
    static func prefix(length: Int) -> Int { 64 + 256 / max(1, length) }
}
