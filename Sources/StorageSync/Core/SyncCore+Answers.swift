extension SyncCore {
    /// Answers to requests that aren't under way any more are passed over: their session is over, and the next hello says what
    /// became of them.
    ///
    /// One that makes no sense ends the session, as if there had been none.
    mutating func take(
        _ answer: SyncAnswer, to id: SyncRequest.ID, at now: Int64, using generator: inout some RandomNumberGenerator
    ) -> [SyncEffect] {
        let effect: SyncEffect?
        switch (answer, connection) {
        case (.welcome(let welcome), .handshake(let flight)) where flight.request == id: effect = begin(welcome)
        case (.pushed(let results), .open(var session)) where session.push?.request == id:
            session.push = nil
            connection = .open(session)
            effect = settle(results)
        case (.page(let page), .open(var session)) where session.pull?.request == id:
            guard page.start == record.position, page.isInOrder else {
                effect = nil
                break
            }
            if page.end == page.start {
                session.pullTime = (session.pull?.time ?? now) + configuration.pullMicroseconds
            }
            session.pull = nil
            connection = .open(session)
            return take(page)
        default: return []
        }
        return [effect ?? retryLater(than: now, remoteAsksFor: nil, using: &generator)]
    }

    /// - Returns: nil where the answer makes no sense.
    private mutating func begin(_ welcome: SyncWelcome) -> SyncEffect? {
        guard welcome.shared >= 0, welcome.lastNumber >= 0 else { return nil }
        guard welcome.lastNumber <= record.lastNumber else {
            connection = .halted
            return save()
        }
        connection = .open(Session(lastNumber: welcome.lastNumber))
        let isRewound = welcome.shared < record.position
        if isRewound { record.position = welcome.shared }
        record.line = welcome.line
        let settled = outbox.settle(welcome.results, pulledUpTo: record.position)
        let freed = outbox.restart(
            behind: welcome.lastNumber, rewindingTo: isRewound ? welcome.shared : nil)
        // The later row of a write is the one that counts.
        let changed = Dictionary((settled + freed).map { ($0.position, $0) }, uniquingKeysWith: { _, later in later })
        return savingOutbox(changed.values.sorted { $0.position < $1.position }) {
            if isRewound { $0.rewind = welcome.shared }
        }
    }

    /// - Returns: nil where writes are left without an outcome.
    private mutating func settle(_ results: [NumberedResult]) -> SyncEffect? {
        let changed = outbox.settle(results, pulledUpTo: record.position)
        guard !outbox.isSending else { return nil }
        record.failures = 0
        return savingOutbox(changed)
    }

    private mutating func take(_ page: SyncPage) -> [SyncEffect] {
        if !outbox.isSending, !outbox.hasSendable { record.failures = 0 }
        guard page.end > page.start else { return [] }
        record.position = page.end
        let confirmed = outbox.confirm(Set(page.changes.compactMap(\.ownNumber)), pulledUpTo: page.end)
        return [savingOutbox(confirmed) { $0.changes = page.changes }]
    }

    private mutating func savingOutbox(
        _ changed: [PendingWrite], _ fill: (inout SyncTransaction) -> Void = { _ in }
    ) -> SyncEffect {
        let forgotten = Set(outbox.trim(toConfirmed: configuration.confirmedWrites))
        return save {
            fill(&$0)
            $0.writes = changed.filter { !forgotten.contains($0.position) }
            $0.removed = forgotten.sorted()
        }
    }
}
