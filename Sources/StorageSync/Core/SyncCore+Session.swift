internal import StorageCore

extension SyncCore {
    mutating func connect(at now: Int64) {
        guard connection == .offline || connection == .closed else { return }
        // A network that returns may be another one, so delays caused by failures of the previous one are dropped,
        // unless the remote has asked for the delay. This doesn't apply when a process starts.
        if connection == .offline, hasBeenConnected, record.retryAfterMicroseconds == 0 { record.delayMicroseconds = 0 }
        hasBeenConnected = true
        connection = .closed
    }

    mutating func disconnect() {
        if case .halted = connection { return }
        connection = .offline
    }

    /// Sends what can be sent.
    mutating func proceed(at now: Int64) -> [SyncEffect] {
        switch connection {
        case .offline, .unauthorized, .halted, .handshake: return []
        case .closed:
            guard now >= record.retryTime else { return [] }
            // The wait is over, whatever the clock says later.
            record.delayMicroseconds = 0
            record.retryAfterMicroseconds = 0
            record.epoch += 1
            let (hello, flight) = request(.hello(epoch: record.epoch), at: now)
            connection = .handshake(flight)
            return [save(), .send(hello)]
        case .open(var session):
            var effects: [SyncEffect] = []
            if session.push == nil { effects += push(in: &session, at: now) }
            if session.pull == nil, now >= session.pullTime {
                let (pull, flight) = request(.pull(line: line, position: record.position), at: now)
                session.pull = flight
                effects.append(.send(pull))
            }
            connection = .open(session)
            return effects
        }
    }

    /// The id of the remote's current line.
    private var line: [UInt8] { record.lines.last?.id ?? [] }

    private mutating func push(in session: inout Session, at now: Int64) -> [SyncEffect] {
        let batch = outbox.nextBatch(
            maximumWrites: batchWrites, maximumBytes: configuration.batchBytes)
        guard !batch.isEmpty else { return [] }
        let first = session.lastNumber + 1
        let (writes, origins) = outbox.number(batch, from: first)
        session.lastNumber += Int64(origins.count)
        record.lastNumber = max(record.lastNumber, session.lastNumber)
        let kind = SyncRequest.Kind.push(
            epoch: record.epoch, line: line, firstNumber: first, writes: origins)
        let (push, flight) = request(kind, at: now)
        session.push = flight
        return [save { $0.writes = writes }, .send(push)]
    }

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
        case .sessionEnded(let epoch):
            // Another process has begun it, or this store was restored to an earlier state.
            if let epoch, epoch < 1 << 31 { record.epoch = max(record.epoch, epoch) }
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
