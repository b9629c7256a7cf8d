internal import Foundation

extension StoreBackup: CustomStringConvertible {
    /// The copy in one line: `copy.sqlite: t:12 @140 2026-01-15T10:00:00Z, 81920 bytes, verified`.
    public var description: String {
        let end = commit > 0 ? "t:\(commit) @\(position) \(date.formatted(.iso8601))" : "empty"
        return "\(path): \(end), \(bytes) bytes" + (isVerified ? ", verified" : "")
    }
}
