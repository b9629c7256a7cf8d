extension SyncCore {
    /// Handles an answer. Answers to requests that are no longer in flight are ignored: their session is over, and the
    /// next hello reports their outcomes.
    ///
    /// An invalid answer ends the session, as if there had been none.
    ///
    /// A page names the store's own writes by their origins, and another copy of the store may use the same ones. So a page
    /// that names a write which is being sent waits for the answer to the push, which only the current session gets. One that
    /// names a write which was never sent is invalid: a copy of this store has sent it, and a hello shows that once the
    /// numbers are known.
    mutating func take(
        _ answer: SyncAnswer, to id: SyncRequest.ID, at now: Int64, using generator: inout some RandomNumberGenerator
    ) -> [SyncEffect] {
        let effect: SyncEffect?
        switch (answer, connection) {
        case (.welcome(let welcome), .handshake(let flight)) where flight.request == id: effect = begin(welcome)
        case (.pushed(let results), .open(var session)) where session.push?.request == id:
            let page = session.page
            (session.push, session.page) = (nil, nil)
            connection = .open(session)
            effect = settle(results)
            if let effect, let page { return [effect] + take(page, in: session, at: now) }
        case (.page(let page), .open(var session)) where session.pull?.request == id:
            let own = page.changes.compactMap(\.ownOrigin).compactMap { outbox.pending(at: $0...$0).first }
            guard page.start == record.position, page.isInOrder, own.allSatisfy(\.wasSent) else {
                effect = nil
                break
            }
            guard own.contains(where: \.isSending) else { return take(page, in: session, at: now) }
            session.page = page
            connection = .open(session)
            return []
        case (.unsent(let rejections), .open(let session)) where session.push?.request == id:
            unsendable = rejections
            connection = .closed
            return []
        default: return []
        }
        return [effect ?? retryLater(than: now, remoteAsksFor: nil, using: &generator)]
    }

    /// - Returns: nil if writes are left without an outcome, or no write was processed.
    private mutating func settle(_ results: [NumberedResult]) -> SyncEffect? {
        let numbers = Set(results.map(\.number))
        let isComplete = outbox.sending.allSatisfy { write in
            if case .sending(let number) = write.state { numbers.contains(number) } else { true }
        }
        guard isComplete, results.contains(where: { $0.result != .blocked }) else { return nil }
        let changed = outbox.settle(results, pulledUpTo: record.position)
        record.failures = 0
        record.settledNumber = max(record.settledNumber, results.map(\.number).max() ?? 0)
        batchWrites = configuration.batchWrites
        return savingAccepted(changed)
    }

    private mutating func take(_ page: SyncPage, in session: Session, at now: Int64) -> [SyncEffect] {
        var session = session
        // The page that completes a snapshot may be empty although the remote holds the next pull.
        if page.isEmpty, page.part == .some {
            session.pullTime = (session.pull?.time ?? now) + configuration.pullMicroseconds
        }
        session.pull = nil
        connection = .open(session)
        return take(page)
    }

    private mutating func take(_ page: SyncPage) -> [SyncEffect] {
        if outbox.sending.isEmpty, !outbox.hasSendable { record.failures = 0 }
        guard !page.isEmpty || page.part != .some else { return [] }
        record.position = page.end
        var changed = outbox.confirm(page.changes, pulledUpTo: page.end)
        changed += outbox.parkConflicts(with: page.changes)
        return [
            savingOutbox(changed) {
                $0.changes = page.changes
                $0.part = page.part
                $0.unreadable = page.unreadable
            }
        ]
    }

    /// Saves outcomes; writes that no page will contain are confirmed with them.
    mutating func savingAccepted(
        _ changed: [PendingWrite], _ fill: (inout SyncTransaction) -> Void = { _ in }
    ) -> SyncEffect {
        let (followed, position) = (followed, record.position)
        let changed = changed + outbox.confirmAccepted { !followed.includes($0) }
        let unpulled = changed.filter { write in
            guard case .confirmed(let at) = write.state else { return false }
            return at > position || !followed.covers(write.document)
        }
        return savingOutbox(changed) {
            fill(&$0)
            $0.unpulled = Set(unpulled.map(\.position))
        }
    }

    private mutating func savingOutbox(
        _ changed: [PendingWrite], _ fill: (inout SyncTransaction) -> Void = { _ in }
    ) -> SyncEffect {
        let conflicts = configuration.mergesConflicts ? outbox.rebaseConflicts(to: record.position) : Outbox.Conflicts()
        let forgotten = outbox.trim(toConfirmed: configuration.confirmedWrites)
        record.forgottenPosition = max(record.forgottenPosition, forgotten.last?.remotePosition ?? 0)
        // If a write has several rows, the last one counts.
        let rows = Dictionary(
            (changed + conflicts.writes).map { ($0.position, $0) }, uniquingKeysWith: { _, later in later })
        return save {
            fill(&$0)
            $0.conflicts = conflicts.documents
            $0.writes = rows.values.sorted { $0.position < $1.position }
            $0.removed = forgotten.map(\.position).sorted()
        }
    }
}
