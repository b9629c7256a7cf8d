/// Keeps a store and its remote equal: what to send, what to save, when to try again.
///
/// A pure state machine: no clock, no randomness, no task and no socket of its own. A driver hands it what happens, and does
/// what it answers, in that order.
///
/// ``` swift
/// for effect in core.step(.connected, at: now, using: &generator) { … }
/// ```
///
/// Every write that was committed is applied once, or parked where somebody can see it. Why:
///
/// 1. A write is numbered, and the number saved, before it is sent. A remote takes the numbers of a producer in their order,
///    each once: it applies the write, or rejects it, and the number is used up. ``Outbox`` says when several writes have one
///    number.
/// 2. A request without an answer says nothing about its writes. Nothing is sent in its place until a hello has been answered.
///    A hello begins a session under a new epoch, which was saved before; the remote ends all sessions of lower epochs with it.
/// 3. So the answer's last number is final: each write up to it has an outcome, which the answer has for those that this store
///    doesn't know, since only one batch is under way at a time; no write behind it has one, nor will a message that is still
///    on its way give it one. Those are free to be numbered again.
/// 4. A remote that was restored from a backup says so by another line. What it has lost of this store's writes waits again, in
///    the old order, before all later ones of the same document. Where a backup of another branch is restored later, a write
///    may be in it already: the remote looks for it by its origin, a position in this store's log.
///
/// In the words of the field: the epoch is a fencing token, numbers are those of an idempotent producer, a line is a timeline.
package struct SyncCore: Sendable {
    package struct Configuration: Sendable {
        package var batchWrites = 500
        package var batchBytes = 262_144
        /// How long an answer may take; longer than a remote holds a pull that has nothing to answer.
        package var requestMicroseconds: Int64 = 60_000_000
        /// The least time between two pulls, for remotes that don't hold one until there is something to answer.
        package var pullMicroseconds: Int64 = 1_000_000
        /// How many confirmed writes are kept for a remote that may be restored from a backup.
        package var confirmedWrites = 100_000
        /// The longest time that a remote can ask for before it is asked again.
        package var longestRetryAfterMicroseconds: Int64 = 3_600_000_000
        /// Whether conditional writes whose document somebody else has changed are made on what it has become, and sent again. Else
        /// they are parked.
        package var mergesConflicts = false

        package init() {}
    }

    package enum Connection: Sendable, Equatable {
        /// There is no network.
        case offline
        /// A session is to be begun when its time has come.
        case closed
        case handshake(Flight)
        case open(Session)
        /// Until there are other credentials.
        case unauthorized
        /// Until somebody has seen to it: what would be sent could be applied twice, or be taken for something else.
        case halted(HaltReason)
    }

    package enum HaltReason: Sendable, Equatable {
        /// The remote has outcomes under numbers that this store never sent: it is a copy of another, or an older state of
        /// itself. It needs a producer id of its own.
        case unknownNumbers
        /// The remote has lost what it had acknowledged, and hasn't begun another line: it was replaced by an older copy.
        case remoteWentBack
    }

    /// A request without an answer.
    package struct Flight: Sendable, Equatable {
        package let request: SyncRequest.ID
        /// When it was sent.
        package internal(set) var time: Int64
    }

    package struct Session: Sendable, Equatable {
        /// The last number that has an outcome, or is being sent.
        package var lastNumber: Int64
        package var push: Flight?
        package var pull: Flight?
        /// Before this time nothing is pulled: the remote has answered the last pull at once, with nothing.
        package var pullTime: Int64 = 0
    }

    package internal(set) var connection = Connection.offline
    package internal(set) var record: SyncRecord
    package internal(set) var outbox: Outbox
    /// Writes to other documents are confirmed as soon as they are taken: no page will have them.
    var followed: FollowedDocuments
    let configuration: Configuration
    /// How many writes a batch has at the most; fewer while a remote refuses larger ones.
    var batchWrites: Int
    /// A write that was refused by itself: it is parked when the next session has shown that it isn't applied.
    var refusal: (position: Int64, rejection: WriteRejection)?
    /// Requests up to this one were made with other credentials.
    var lastUnauthorizedRequest: Int64
    var hasBeenConnected = false
    private(set) var lastRequest: Int64
    private var timer: Int64?

    /// - Parameters:
    ///   - record: As it was saved last.
    ///   - outbox: As it was saved last.
    ///   - followed: The documents whose changes are pulled.
    package init(
        record: SyncRecord, outbox: Outbox, configuration: Configuration = Configuration(),
        followed: FollowedDocuments = FollowedDocuments()
    ) {
        self.record = record
        self.outbox = outbox
        self.followed = followed
        self.configuration = configuration
        batchWrites = configuration.batchWrites
        // An epoch begins with a session, and a session has fewer requests than that: no answer to a request of an earlier core
        // is taken for one to a request of this one.
        lastRequest = record.epoch << 32
        lastUnauthorizedRequest = lastRequest
    }

    /// - Parameters:
    ///   - now: In microseconds since 1970. It may go back.
    ///   - generator: For delays.
    package mutating func step(
        _ input: SyncInput, at now: Int64, using generator: inout some RandomNumberGenerator
    ) -> [SyncEffect] {
        limitTimes(to: now)
        var effects: [SyncEffect] = []
        switch input {
        case .wrote(let writes): outbox.append(writes)
        case .connected: connect(at: now)
        case .disconnected: disconnect()
        case .authorized:
            lastUnauthorizedRequest = lastRequest
            if connection == .unauthorized { connection = .closed }
        case .timer:
            timer = nil
            effects += expire(at: now, using: &generator)
        case .follow(let documents):
            followed = documents
            if outbox.hasTaken(where: { !documents.contain($0) }) { effects.append(savingTaken([])) }
        case .retryNow:
            record.delayMicroseconds = 0
            record.retryAfterMicroseconds = 0
        case .retry(let position):
            let writes = outbox.retry(position, pulledUpTo: record.position)
            if !writes.isEmpty { effects.append(save { $0.writes = writes }) }
        case .discard(let position):
            let writes = outbox.discard(position)
            if !writes.isEmpty { effects.append(save { $0.removed = writes.map(\.position) }) }
        case .answer(let answer, let id): effects += take(answer, to: id, at: now, using: &generator)
        case .failure(let failure, let id): effects += take(failure, of: id, at: now, using: &generator)
        }
        effects += proceed(at: now)
        if wakeTime != timer {
            timer = wakeTime
            effects.append(.setTimer(timer))
        }
        return effects
    }

    /// When something is to be done though nothing happens.
    private var wakeTime: Int64? {
        switch connection {
        case .offline, .unauthorized, .halted: nil
        case .closed: record.retryTime
        case .handshake(let flight): deadline(of: flight)
        case .open(let session):
            min(
                session.push.map(deadline(of:)) ?? .max,
                session.pull.map(deadline(of:)) ?? session.pullTime)
        }
    }

    func deadline(of flight: Flight) -> Int64 { flight.time + configuration.requestMicroseconds }

    func save(_ fill: (inout SyncTransaction) -> Void = { _ in }) -> SyncEffect {
        var transaction = SyncTransaction(record: record)
        fill(&transaction)
        return .save(transaction)
    }

    mutating func request(_ kind: SyncRequest.Kind, at now: Int64) -> (SyncRequest, Flight) {
        lastRequest += 1
        let id = SyncRequest.ID(value: lastRequest)
        return (SyncRequest(id: id, kind: kind), Flight(request: id, time: now))
    }
}
