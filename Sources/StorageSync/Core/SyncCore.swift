/// Synchronizes a store with its remote: decides what to send, what to save, and when to retry.
///
/// A pure state machine: it has no clock, randomness, tasks or sockets of its own. A driver passes events in and
/// carries out the returned effects in order.
///
/// ``` swift
/// for effect in core.step(.connected, at: now, using: &generator) { … }
/// ```
///
/// Every committed write is applied exactly once, or parked where it can be seen. The argument:
///
/// 1. A write is numbered, and the number saved, before it is sent. A remote processes the numbers of a producer in
///    order, each once: it applies or rejects the write, and the number is used up. ``Outbox`` says when several writes
///    share a number.
/// 2. A request without an answer says nothing about its writes. Nothing is sent in its place until a hello has been
///    answered. A hello begins a session under a new epoch that was saved before; the remote ends all sessions with
///    lower epochs.
/// 3. So the last number in the answer is final. Each write up to it has an outcome; the answer contains those this
///    store doesn't know, since only one batch is in flight at a time. No later write has an outcome, and no message
///    still in transit will give it one, so those can be numbered again. The answer also names the session of the
///    batch: if it isn't the one in which this store has sent, a copy of the store has used the numbers, and the core halts.
///    A copy of the running process sends in the same session. The remote then refuses a batch under numbers that the copy
///    has used, and the core halts at the next answer to a hello. If that batch or its refusal is lost, the hello doesn't
///    show the copy: its outcomes are those of the session in which this store has sent.
/// 4. A remote that was restored from a backup reports another line. Writes of this store that it has lost wait again,
///    in the original order and before all later ones of the same document. If a backup of another branch is restored
///    later, a write may already be in it: the remote looks it up by its origin, a position in this store's log.
///
/// In the field's terms: the epoch is a fencing token, numbers are those of an idempotent producer, a line is a
/// timeline.
package struct SyncCore: Sendable {
    package struct Configuration: Sendable {
        package var batchWrites = 500
        package var batchBytes = 262_144
        /// The longest time to wait for an answer; longer than a remote holds a pull that has nothing to return.
        package var requestMicroseconds: Int64 = 60_000_000
        /// The minimum time between a pull that returned nothing and the next one, for remotes that don't hold a pull
        /// until there is something to return; 0 for those that do.
        package var pullMicroseconds: Int64 = 1_000_000
        /// How many confirmed writes are kept for a remote that may be restored from a backup.
        package var confirmedWrites = 100_000
        /// The longest retry delay that a remote can request.
        package var longestRetryAfterMicroseconds: Int64 = 3_600_000_000
        /// Whether conditional writes whose document another writer has changed are rebased and sent again. Otherwise they are parked.
        package var mergesConflicts = false

        package init() {}
    }

    package enum Connection: Sendable, Equatable {
        /// There is no network.
        case offline
        /// A session is to be begun at the retry time.
        case closed
        case handshake(Flight)
        case open(Session)
        /// Waits for other credentials.
        case unauthorized
        /// Waits for someone to intervene: sending could apply writes twice, or be mistaken for something else.
        case halted(HaltReason)
    }

    package enum HaltReason: Sendable, Equatable {
        /// The remote has outcomes for numbers that this store never sent, or that another session has sent: it is a copy of
        /// another store, or an older state of itself. It needs a producer id of its own.
        case unknownNumbers
        /// The remote has lost acknowledged writes without beginning another line: it was replaced by an older copy.
        case remoteWentBack
    }

    /// A request without an answer.
    package struct Flight: Sendable, Equatable {
        package let request: SyncRequest.ID
        /// The time at which it was sent.
        package internal(set) var time: Int64
    }

    package struct Session: Sendable, Equatable {
        /// The last number that has an outcome, or is being sent.
        package var lastNumber: Int64
        package var push: Flight?
        package var pull: Flight?
        /// The answer to the pull, while it waits for that to the push: it reports a write that is being sent.
        var page: SyncPage?
        /// The earliest time of the next pull, after the remote answered the previous one at once with nothing.
        package var pullTime: Int64 = 0

        /// The pull, unless it was answered.
        var unansweredPull: Flight? { page == nil ? pull : nil }
    }

    package internal(set) var connection = Connection.offline
    package internal(set) var record: SyncRecord
    package internal(set) var outbox: Outbox
    /// Writes to other documents are confirmed as soon as they are accepted, because no page will contain them.
    var followed: FollowedDocuments
    let configuration: Configuration
    /// The maximum number of writes in a batch; lower while a remote refuses larger ones.
    var batchWrites: Int
    /// A write that was refused by itself: it is parked once the next session has shown that it isn't applied.
    var refusal: (position: Int64, rejection: WriteRejection)?
    /// Writes that can't be sent, by origin: they are parked once the next session has begun, or merged with their
    /// corrections.
    var unsendable: [Int64: UnsendableWrite] = [:]
    /// Requests up to this one were made with other credentials.
    var lastUnauthorizedRequest: Int64
    var hasBeenConnected = false
    private(set) var lastRequest: Int64
    private var timer: Int64?

    /// - Parameters:
    ///   - record: The last saved record.
    ///   - outbox: The last saved outbox.
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
        // An epoch begins with a session, which has fewer requests than this, so no answer to an earlier core's request
        // is mistaken for one to this core's.
        lastRequest = record.epoch << 32
        lastUnauthorizedRequest = lastRequest
    }

    /// - Parameters:
    ///   - now: Microseconds since 1970. May go back.
    ///   - generator: Used for delays.
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
            if outbox.hasAccepted(where: { !documents.includes($0) }) { effects.append(savingAccepted([])) }
        case .retryNow:
            record.delayMicroseconds = 0
            record.retryAfterMicroseconds = 0
        case .retry(let position):
            let writes = outbox.retry(position, pulledUpTo: record.position, following: followed)
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

    /// The time at which something must be done even if no input arrives.
    private var wakeTime: Int64? {
        switch connection {
        case .offline, .unauthorized, .halted: nil
        case .closed: record.retryTime
        case .handshake(let flight): deadline(of: flight)
        case .open(let session):
            min(
                session.push.map(deadline(of:)) ?? .max,
                session.unansweredPull.map(deadline(of:)) ?? (session.pull == nil ? session.pullTime : .max))
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

extension SyncCore.HaltReason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownNumbers: "the remote has writes under this store's name that it never sent"
        case .remoteWentBack: "the remote has lost what it had acknowledged"
        }
    }
}
