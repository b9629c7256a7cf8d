/// How rows are shown.
struct RowDisplay: Sendable {
    /// Whether each column is on a separate line.
    var isExpanded = false
    /// The only columns; all if nil.
    var fields: [String]?
    /// Whether long values are shown in full.
    var isWhole = false
}
