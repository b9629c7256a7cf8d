/// What a row must be like for a write to go through: optimistic concurrency.
///
/// ```swift
/// try await storage.save(user, expecting: .position(receipt.position))
/// ```
public enum RowPrecondition: Sendable, Hashable {
    /// The row's last change has this position, from ``Storage/getWithPosition(_:id:)``, a receipt, or its history.
    case position(Int64)
    /// There is a row.
    case exists
    /// There is no row.
    case absent
}

extension RowPrecondition: CustomStringConvertible {
    public var description: String {
        switch self {
        case .position(let position): "at position \(position)"
        case .exists: "there"
        case .absent: "absent"
        }
    }
}
