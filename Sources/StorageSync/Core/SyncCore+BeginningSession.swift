/// Begins a session with the remote's welcome, which may belong to another line of history, or halts.
extension SyncCore {
    /// - Returns: nil if the answer is invalid.
    mutating func begin(_ welcome: SyncWelcome) -> SyncEffect? {
        guard !welcome.lines.isEmpty, welcome.head >= 0, welcome.lastNumber >= 0 else { return nil }
        // Numbers of another branch of the history say nothing about those sent here.
        let isContinuation = welcome.lines.starts(with: record.lines)
        if let reason = haltReason(welcome, isContinuation: isContinuation) {
            connection = .halted(reason)
            return save()
        }
        let shared = record.lines.sharedEnd(with: welcome.lines)
        let rewind = shared < record.position ? shared : nil
        record.position = min(record.position, shared)
        let restartsPull = record.access != nil && welcome.access != nil && welcome.access != record.access
        if restartsPull { record.position = 0 }
        record.access = welcome.access ?? record.access
        if shared < record.forgottenPosition { record.hasLostWrites = true }
        record.forgottenPosition = min(record.forgottenPosition, shared)
        record.lines = welcome.lines
        record.settledNumber = welcome.lastNumber
        connection = .open(Session(lastNumber: welcome.lastNumber))
        var changed = isContinuation ? outbox.settle(welcome.results, pulledUpTo: record.position) : []
        changed += outbox.restart(behind: isContinuation ? welcome.lastNumber : 0, sharedEnd: shared)
        if let (position, rejection) = refusal { changed += outbox.park(position, rejection) }
        refusal = nil
        for (origin, write) in unsendable.sorted(by: { $0.key < $1.key }) {
            changed += outbox.correctOrPark(origin, write)
        }
        unsendable = [:]
        return savingAccepted(changed) {
            $0.rewind = rewind
            $0.restartsPull = restartsPull
        }
    }

    private func haltReason(_ welcome: SyncWelcome, isContinuation: Bool) -> HaltReason? {
        if welcome.lastNumber > record.lastNumber { return .unknownNumbers }
        // An outcome that this store doesn't know is that of the batch it sent last. From another session it is that of
        // other writes, under the same numbers. An earlier version of the remote or of this store has kept no session.
        if isContinuation, welcome.lastNumber > record.settledNumber, let theirs = welcome.lastSession,
            let own = record.lastSession, own != theirs
        {
            return .unknownNumbers
        }
        guard welcome.lines == record.lines else { return nil }
        return welcome.lastNumber < record.settledNumber || welcome.head < record.position ? .remoteWentBack : nil
    }
}
