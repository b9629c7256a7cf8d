internal import Foundation

extension StorageValue {
    /// The approximate memory use.
    package var byteCount: Int {
        switch self {
        case .null, .integer, .real: 16
        case .text(let text): 16 + text.utf8.count
        case .blob(let bytes): 16 + bytes.count
        }
    }
}
