import StorageKit

/// The subject of a line, for keys that act on it.
struct LineSubject: Equatable, Sendable {
    var commit: Int64?
    var actor: String?
    /// The row or the cell.
    var row: TargetArgument?
    /// The table, if there is no row.
    var table: String?
}
