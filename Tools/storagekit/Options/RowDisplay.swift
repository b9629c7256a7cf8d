/// How rows are shown.
struct RowDisplay: Sendable {
    /// Whether each column has a line of its own.
    var isExpanded = false
    /// The only columns; all if nil.
    var fields: [String]?
    /// Whether long values are shown whole.
    var isWhole = false
}
