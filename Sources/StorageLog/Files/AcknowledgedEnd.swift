internal import Foundation
internal import StorageCore

/// Where a store's log must end, known from outside the log: the last position that its writer has acknowledged, and the content
/// of the write-ahead log after the frame at which SQLite stops.
///
/// Create it before reading the state that is compared with it: a commit between the two then only makes the log longer.
///
/// Isolation: `Sendable`; it is a plain value.
package struct AcknowledgedEnd: Sendable {
    let store: String
    let known: Acknowledgement?

    package init(store: String) {
        self.store = store
        known = Acknowledgement.reading(besideStore: store)
    }

    /// The end for a file that doesn't exist yet or isn't a store: it has no acknowledged commits.
    init(ofNew store: String) {
        self.store = store
        known = nil
    }
}

// MARK: Opening for writing

extension AcknowledgedEnd {
    /// Checks a store against its acknowledged end before SQLite recovers it for a writer, which would discard unreadable
    /// commits. Changes nothing.
    ///
    /// - Returns: Whether commits were lost as `normal` durability allows.
    /// - Throws: `corrupt` if more is lost than that, also where the file has no tables: a store's first commits are in its
    ///   write-ahead log only.
    func checkBeforeWriting() throws -> Bool {
        if let loss = try writeAheadLogLoss() { return try accept(loss) }
        guard known != nil, let head = try head(), let loss = positionLoss(head) else { return false }
        return try accept(loss)
    }

    /// The damage for which a file isn't recognised as a store; nil if it may never have been one.
    func lossOfTables() throws -> CommitLoss? {
        try losses(head: head()).first(where: \.isDamage)
    }

    private func accept(_ loss: CommitLoss) throws -> Bool {
        guard !loss.isDamage else { throw StorageError(loss) }
        return true
    }

    /// Records for the next opening that a power failure may lose commits from this point on, before the first of them is made.
    func announceNormalDurability(by doorbell: Doorbell?, hasLost: Bool) {
        guard known?.durability != .normal else { return }
        doorbell?.acknowledge(hasLost ? 0 : known?.position ?? 0, synchronising: true)
    }

    /// The log's last position; nil if it can't be read, which opening the store reports.
    func head() throws -> Int64? {
        do {
            return try DatabaseFile(store, .reading).with { connection in
                try StoreFormat.isEmpty(connection) ? 0 : LogHead.load(connection).position
            }
        } catch let error as StorageError where !error.isOfTheMachine {
            return nil
        }
    }
}
