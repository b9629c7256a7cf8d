import StorageKit

extension ImportedKind {
    /// Nil for null, which has no kind.
    init?(_ value: HistoryValue) {
        switch value {
        case .null: return nil
        case .bool: self = .boolean
        case .integer: self = .integer
        case .real: self = .real
        case .text: self = .text
        case .blob: self = .blob
        case .json: self = .json
        }
    }
}
