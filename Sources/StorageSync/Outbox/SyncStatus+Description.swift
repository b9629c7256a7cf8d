internal import Foundation
internal import StorageLog

extension SyncStatus: CustomStringConvertible {
    /// The status in one line, then a line for each parked write and unreadable document:
    ///
    /// ```
    /// connected, 2 pending, 1 parked
    ///   @101 counters/a: another client has deleted the document
    /// ```
    public var description: String {
        var parts = ["\(connection)", "\(pendingCount) pending"]
        if !parked.isEmpty { parts.append("\(parked.count) parked") }
        if !unreadable.isEmpty { parts.append("\(unreadable.count) unreadable") }
        if hasLostWrites { parts.append("writes lost") }
        if let lastError { parts.append("last error: \(lastError)") }
        return ([parts.joined(separator: ", ")] + parked.map { "  \($0)" } + unreadable.map { "  \($0)" })
            .joined(separator: "\n")
    }
}

extension SyncStatus.Connection: CustomStringConvertible {
    /// `connected`, `waiting until 2026-01-15T10:00:00Z`, `halted: …`
    public var description: String {
        switch self {
        case .idle: "idle"
        case .connecting: "connecting"
        case .connected: "connected"
        case .waiting(let time): "waiting until \(time.formatted(.iso8601))"
        case .unauthorized: "unauthorized"
        case .halted(let reason): "halted: \(reason)"
        case .failed(let reason): "failed: \(reason)"
        }
    }
}

extension SyncStatus.ParkedWrite: CustomStringConvertible {
    /// The write, and why it is parked: `@101 a: another client has deleted the document`.
    public var description: String { "@\(position) \(documentId): \(reason)" }
}

extension SyncStatus.UnreadableDocument: CustomStringConvertible {
    /// The document, and why it can't be stored: `a: …`.
    public var description: String { "\(documentId): \(reason)" }
}
