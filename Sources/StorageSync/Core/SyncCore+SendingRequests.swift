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
        record.lastSession = SyncSession(epoch: record.epoch, line: line)
        let kind = SyncRequest.Kind.push(
            epoch: record.epoch, line: line, firstNumber: first, writes: origins)
        let (push, flight) = request(kind, at: now)
        session.push = flight
        return [save { $0.writes = writes }, .send(push)]
    }
}
