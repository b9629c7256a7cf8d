internal import Foundation
internal import StorageCore

/// What is known beside a store's log of where it must end: the last position that its writer has acknowledged, and what lies in
/// the write-ahead log behind the frame at which SQLite stops.
///
/// It is made before the state that is compared with it: a commit that comes between them makes the log longer.
///
/// Isolation: `Sendable`; it is a note.
package struct AcknowledgedEnd: Sendable {
    let store: String
    let known: Acknowledgement?

    package init(store: String) {
        self.store = store
        known = Acknowledgement.reading(besideStore: store)
    }

    /// That of a file that isn't there yet, or that isn't a store: what lies beside it says nothing.
    init(ofNew store: String) {
        self.store = store
        known = nil
    }
}

// MARK: Opening for writing

extension AcknowledgedEnd {
    /// Holds a store to what is known of it before SQLite recovers it for a writer, which would throw away what can't be read.
    /// Nothing is changed.
    ///
    /// - Returns: Whether `normal` durability has lost commits.
    /// - Throws: `corrupt` where more is lost than that.
    func checkBeforeWriting() throws -> Bool {
        if let loss = try writeAheadLogLoss() { return try accept(loss) }
        guard known != nil, let head = try head(), let loss = positionLoss(head) else { return false }
        return try accept(loss)
    }

    private func accept(_ loss: CommitLoss) throws -> Bool {
        guard !loss.isDamage else { throw StorageError(loss) }
        return true
    }

    /// Lets the next opening know that commits may be lost with the power from now on, before the first of them is made.
    func announceNormalDurability(by doorbell: Doorbell?, hasLost: Bool) {
        guard known?.durability != .normal else { return }
        doorbell?.acknowledge(hasLost ? 0 : known?.position ?? 0, synchronising: true)
    }

    /// Where the log ends; nil where that can't be read, which is said when the store is opened.
    private func head() throws -> Int64? {
        do {
            return try DatabaseFile(store, .reading).with { try LogHead.load($0).position }
        } catch let error as StorageError where !error.isOfTheMachine {
            return nil
        }
    }
}
