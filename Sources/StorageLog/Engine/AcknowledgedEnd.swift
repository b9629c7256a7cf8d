internal import Foundation
package import StorageCore

/// What is known beside a store's log of where it must end: the last position that its writer has acknowledged, and what lies in
/// the write-ahead log behind the frame at which SQLite stops.
///
/// It is made before the state that is compared with it: a commit that comes between them makes the log longer.
///
/// Isolation: `Sendable`; it is a note.
package struct AcknowledgedEnd: Sendable {
    private let store: String
    private let known: Acknowledgement?

    package init(store: String) {
        self.store = store
        known = Acknowledgement.reading(besideStore: store)
    }

    /// That of a file that isn't there yet, or that isn't a store: what lies beside it says nothing.
    init(ofNew store: String) {
        self.store = store
        known = nil
    }

    /// What a log that ends at a position is short of.
    ///
    /// - Parameter head: Nil where it isn't known.
    /// - Complexity: Reads the write-ahead log once; memory for one page.
    /// - Throws: `io-error` where the write-ahead log can't be read.
    package func losses(head: Int64?) throws -> [CommitLoss] {
        [try writeAheadLogLoss(), head.flatMap(positionLoss)].compactMap(\.self)
    }

    /// What lies behind the frame at which SQLite stops.
    func writeAheadLogLoss() throws -> CommitLoss? {
        guard let damage = try WriteAheadLog.damage(besideStore: store) else { return nil }
        let log = WriteAheadLog.path(ofStore: store)
        let location = damage.frame == 0 ? "in its header" : "at frame \(damage.frame)"
        let count = damage.transactions == 1 ? "1 transaction" : "\(damage.transactions) transactions"
        // The header is on the disk before anything is written behind it, with `normal` durability too.
        guard damage.frame == 0 || known?.durability != .normal else {
            return CommitLoss(
                isDamage: false,
                message:
                    "\(log) ends \(location), in front of \(count): they were lost in a power failure, which normal durability allows.",
                remedy: "No action is needed. With full durability, commits survive power loss.")
        }
        return CommitLoss(
            isDamage: true,
            message:
                "\(log) is damaged \(location): \(count) after it can't be read, and the next writer would overwrite them.",
            remedy:
                "Copy \(store) and \(log) to another folder. Then restore a backup, or restore what precedes the damage: storagekit restore \(store) -o NEW"
        )
    }

    private func positionLoss(_ head: Int64) -> CommitLoss? {
        guard let known, known.position > head else { return nil }
        let ends = "The log of \(store) ends at @\(head), and @\(known.position) was acknowledged"
        guard known.durability == .full else {
            return CommitLoss(
                isDamage: false,
                message: "\(ends): the last commits were lost in a power failure, which normal durability allows.",
                remedy: "No action is needed. With full durability, commits survive power loss.")
        }
        let bell = Doorbell.path(ofStore: store)
        return CommitLoss(
            isDamage: true,
            message: "\(ends): commits after it are missing, or the file was replaced by an older copy.",
            remedy: "Restore a backup. To continue with the existing log, remove \(bell) first.")
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

extension StorageError {
    package init(_ loss: CommitLoss) { self.init(.corrupt, loss.message, remedy: loss.remedy) }
}
