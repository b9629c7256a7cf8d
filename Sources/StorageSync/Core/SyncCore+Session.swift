internal import StorageCore

extension SyncCore {
    mutating func connect(at now: Int64) {
        guard connection == .offline || connection == .closed else { return }
        connection = .closed
        // Whoever comes back doesn't wait for what went wrong before, unless the remote has asked for it.
        record.delayMicroseconds = 0
    }

    /// Sends what can be sent.
    mutating func proceed(at now: Int64) -> [SyncEffect] {
        switch connection {
        case .offline, .unauthorized, .halted, .handshake: return []
        case .closed:
            guard now >= record.retryTime else { return [] }
            record.epoch += 1
            let kind = SyncRequest.Kind.hello(
                epoch: record.epoch, line: record.line, position: record.position)
            let (hello, flight) = request(kind, at: now)
            connection = .handshake(flight)
            return [save(), .send(hello)]
        case .open(var session):
            var effects: [SyncEffect] = []
            if session.push == nil { effects += push(in: &session, at: now) }
            if session.pull == nil, now >= session.pullTime {
                let (pull, flight) = request(.pull(line: record.line, position: record.position), at: now)
                session.pull = flight
                effects.append(.send(pull))
            }
            connection = .open(session)
            return effects
        }
    }

    private mutating func push(in session: inout Session, at now: Int64) -> [SyncEffect] {
        let batch = outbox.nextBatch(
            maximumWrites: configuration.batchWrites, maximumBytes: configuration.batchBytes)
        guard !batch.isEmpty else { return [] }
        let first = session.lastNumber + 1
        let writes = outbox.number(batch, from: first)
        session.lastNumber += Int64(writes.count)
        record.lastNumber = max(record.lastNumber, session.lastNumber)
        let kind = SyncRequest.Kind.push(
            epoch: record.epoch, line: record.line, firstNumber: first, writes: writes.map(\.position))
        let (push, flight) = request(kind, at: now)
        session.push = flight
        return [save { $0.writes = writes }, .send(push)]
    }

    /// Nothing waits longer than it was meant to because the clock was set back.
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

    /// Ends the session if a request has had no answer for too long.
    mutating func expire(at now: Int64, using generator: inout some RandomNumberGenerator) -> [SyncEffect] {
        let flights: [Flight?] =
            switch connection {
            case .offline, .closed, .unauthorized, .halted: []
            case .handshake(let flight): [flight]
            case .open(let session): [session.push, session.pull]
            }
        guard flights.contains(where: { $0.map { deadline(of: $0) <= now } ?? false }) else { return [] }
        return [retryLater(than: now, remoteAsksFor: nil, using: &generator)]
    }

    mutating func take(
        _ failure: SyncFailure, of id: SyncRequest.ID, at now: Int64, using generator: inout some RandomNumberGenerator
    ) -> [SyncEffect] {
        guard isUnderWay(id) else { return [] }
        switch failure {
        case .retryable(let microseconds):
            return [retryLater(than: now, remoteAsksFor: microseconds, using: &generator)]
        case .sessionEnded: return [retryLater(than: now, remoteAsksFor: nil, using: &generator)]
        case .unauthorized:
            connection = .unauthorized
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
        record.delayMicroseconds = RetryDelay.ofRemoteMicroseconds(after: record.failures, using: &generator)
        record.retryAfterMicroseconds = min(max(0, microseconds ?? 0), configuration.longestRetryAfterMicroseconds)
        return save()
    }
}
