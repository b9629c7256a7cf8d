/// What a row must be like for a write to go through: optimistic concurrency.
public enum RowPrecondition: Sendable, Hashable {
    /// The row's last change has this position, from a receipt or from its history.
    case position(Int64)
    /// There is a row.
    case exists
    /// There is no row.
    case absent
}
