/// Why the remote hasn't accepted a write, and won't.
///
/// ```swift
/// do {
///     try await refused.confirmed()
/// } catch SyncWriteError.rejected(let reason) {
///     print("parked: \(reason)")
/// }
/// ```
public enum SyncWriteError: Error, Equatable, CustomStringConvertible {
    /// The remote has rejected the write for this reason, or it can't be sent; it is parked.
    case rejected(String)
    /// The write was parked and then discarded.
    case discarded

    public var description: String {
        switch self {
        case .rejected(let reason):
            "The write was refused: \(reason). It is parked: resolve the reason and retry it, or discard it."
        case .discarded: "The write was discarded."
        }
    }
}
