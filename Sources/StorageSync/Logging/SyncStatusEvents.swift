internal import Foundation

/// Derives log events from changes of an engine's status.
struct SyncStatusEvents {
    let key: String
    /// The number of writes sent since the remote was reached with writes waiting; nil if none are waiting, or the
    /// remote can't be reached.
    private var syncedCount: Int?

    init(key: String) { self.key = key }

    mutating func events(from old: SyncStatus, to new: SyncStatus) -> [SyncEvent] {
        var events: [SyncEvent] = []
        let unreadable = Set(old.unreadable.map(\.documentId))
        for document in new.unreadable where !unreadable.contains(document.documentId) {
            events.append(.documentUnreadable(key: key, documentId: document.documentId, reason: document.reason))
        }
        let parked = Set(old.parked.map(\.position))
        for write in new.parked where !parked.contains(write.position) {
            events.append(.writeParked(key: key, documentId: write.documentId, reason: write.reason))
        }
        if case .waiting(let time) = new.connection, new.connection != old.connection {
            let delay = time.timeIntervalSinceNow
            events.append(.remoteUnavailable(key: key, reason: new.lastError, delaySeconds: delay))
        }
        if new.pendingCount > old.pendingCount { events.append(.pendingWriteAdded(key: key, count: new.pendingCount)) }
        if new.pendingCount < old.pendingCount, new.connection != .idle {
            events.append(.pendingWritesCleared(key: key, remainingCount: new.pendingCount))
        }
        return events + queueEvents(from: old, to: new)
    }

    private mutating func queueEvents(from old: SyncStatus, to new: SyncStatus) -> [SyncEvent] {
        let isSending = new.connection == .connected && new.pendingCount > new.parked.count
        guard let synced = syncedCount else {
            guard isSending else { return [] }
            syncedCount = 0
            return [.syncPendingWritesStart(key: key, count: new.pendingCount - new.parked.count)]
        }
        syncedCount = isSending ? synced + max(0, old.pendingCount - new.pendingCount) : nil
        guard !isSending else { return [] }
        let sum = synced + (new.connection == .idle ? 0 : max(0, old.pendingCount - new.pendingCount))
        return [.syncPendingWritesComplete(key: key, synced: sum, failed: new.pendingCount)]
    }
}
