/// A condition on a row that must hold for a write to succeed, for optimistic concurrency.
///
/// ```swift
/// try await storage.save(user, expecting: .position(receipt.position))
/// ```
public enum RowPrecondition: Sendable, Hashable {
    /// The row's last change has this position: from ``Storage/getWithPosition(_:id:)``, from a receipt, or from its history.
    case position(Int64)
    /// The row exists.
    case exists
    /// The row doesn't exist.
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
