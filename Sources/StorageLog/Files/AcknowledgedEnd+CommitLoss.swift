package import StorageCore

/// Finds acknowledged commits that the store has lost.
extension AcknowledgedEnd {
    /// The commits that a log ending at a position has lost.
    ///
    /// - Parameter head: The log's last position; nil if unknown.
    /// - Complexity: Reads the write-ahead log once; memory for one page.
    /// - Throws: `io-error` if the write-ahead log can't be read.
    package func losses(head: Int64?) throws -> [CommitLoss] {
        [try writeAheadLogLoss(head: head), head.flatMap(positionLoss)].compactMap(\.self)
    }

    /// The commits after the frame at which SQLite stops.
    ///
    /// - Parameter head: The log's last position; nil to read it if there is damage.
    func writeAheadLogLoss(head: Int64? = nil) throws -> CommitLoss? {
        guard let damage = try WriteAheadLog.damage(besideStore: store) else { return nil }
        let log = WriteAheadLog.path(ofStore: store)
        let location = damage.frame == 0 ? "in its header" : "at frame \(damage.frame)"
        let count = damage.transactions == 1 ? "1 transaction" : "\(damage.transactions) transactions"
        // The header reaches the disk before anything is written after it, even with `normal` durability.
        guard damage.frame == 0 || known?.durability != .normal else {
            return CommitLoss(
                isDamage: false,
                message:
                    "\(log) ends \(location), in front of \(count): they were lost in a power failure, which normal durability allows.",
                remedy: "No action is needed. With full durability, commits survive power loss.")
        }
        let point = try head ?? self.head()
        return CommitLoss(
            isDamage: true,
            message:
                "\(log) is damaged \(location): \(count) after it can't be read, and the next writer would overwrite them.",
            remedy:
                "Copy \(store) and \(log) to another folder. Then restore a backup, or restore what precedes the damage: storagekit restore \(store.quotedAsShellWord)\(point.map { " --to @\($0)" } ?? "") -o NEW"
        )
    }

    /// The acknowledged commits after the log's end.
    func positionLoss(_ head: Int64) -> CommitLoss? {
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

extension StorageError {
    package init(_ loss: CommitLoss) { self.init(.corrupt, loss.message, remedy: loss.remedy) }
}
