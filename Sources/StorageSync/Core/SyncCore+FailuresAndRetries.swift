internal import StorageCore

/// Ends sessions whose requests fail or stay without an answer, and delays the next one.
extension SyncCore {
    /// Bounds stored times, so that setting the clock back doesn't prolong a delay.
    mutating func limitTimes(to now: Int64) {
        record.failureTime = min(record.failureTime, now)
        switch connection {
        case .offline, .closed, .unauthorized, .halted: break
        case .handshake(var flight):
            flight.time = min(flight.time, now)
            connection = .handshake(flight)
        case .open(var session):
            if let time = session.push?.time { session.push?.time = min(time, now) }
            if let time = session.pull?.time { session.pull?.time = min(time, now) }
            session.pullTime = min(session.pullTime, now + configuration.pullMicroseconds)
            connection = .open(session)
        }
    }

    /// Ends the session if a request has been without an answer for too long.
    mutating func expire(at now: Int64, using generator: inout some RandomNumberGenerator) -> [SyncEffect] {
        let flights: [Flight?] =
            switch connection {
            case .offline, .closed, .unauthorized, .halted: []
            case .handshake(let flight): [flight]
            case .open(let session): [session.push, session.unansweredPull]
            }
        guard flights.contains(where: { $0.map { deadline(of: $0) <= now } ?? false }) else { return [] }
        return [retryLater(than: now, remoteAsksFor: nil, using: &generator)]
    }

    mutating func take(
        _ failure: SyncFailure, of id: SyncRequest.ID, at now: Int64, using generator: inout some RandomNumberGenerator
    ) -> [SyncEffect] {
        guard isUnderWay(id) else { return [] }
        switch failure {
        case .retryable(let microseconds, _):
            return [retryLater(than: now, remoteAsksFor: microseconds, using: &generator)]
        case .sessionEnded(let epoch):
            // Another process has begun it, or this store was restored to an earlier state.
            if let epoch, epoch < 1 << 31 { record.epoch = max(record.epoch, epoch) }
            return [retryLater(than: now, remoteAsksFor: nil, using: &generator)]
        case .numberReused:
            // No remote has begun this session, so each hello finds that the outcomes aren't those of this store's writes.
            record.lastSession = SyncSession(epoch: 0, line: [])
            return [retryLater(than: now, remoteAsksFor: nil, using: &generator)]
        case .unauthorized where id.value > lastUnauthorizedRequest:
            connection = .unauthorized
            return []
        case .unauthorized: return [retryLater(than: now, remoteAsksFor: nil, using: &generator)]
        case .refused(let rejection):
            let batch = outbox.sending
            let count = Set(batch.map(\.origin)).count
            guard case .open(let session) = connection, session.push?.request == id, let first = batch.first else {
                return [retryLater(than: now, remoteAsksFor: nil, using: &generator)]
            }
            batchWrites = max(1, count / 2)
            if count == 1 { refusal = (first.position, rejection) }
            connection = .closed
            return []
        }
    }

    private func isUnderWay(_ id: SyncRequest.ID) -> Bool {
        switch connection {
        case .offline, .closed, .unauthorized, .halted: false
        case .handshake(let flight): flight.request == id
        case .open(let session): session.push?.request == id || session.pull?.request == id
        }
    }

    mutating func retryLater(
        than now: Int64, remoteAsksFor microseconds: Int64?, using generator: inout some RandomNumberGenerator
    ) -> SyncEffect {
        connection = .closed
        record.failures += 1
        record.failureTime = now
        let delay = RemoteDelay(
            after: record.failures, remoteAsksFor: microseconds, longest: configuration.longestRetryAfterMicroseconds,
            using: &generator)
        record.delayMicroseconds = delay.randomMicroseconds
        record.retryAfterMicroseconds = delay.askedMicroseconds
        return save()
    }
}
