/// What a hub stores about a producer: enough to apply each of its writes once, whatever the network does.
///
/// Its size doesn't depend on how much the producer has written.
package struct WriteDeduplication: Sendable, Equatable, Codable {
    /// The epoch of the session that may write.
    package private(set) var epoch: Int64 = 0
    /// All writes up to this number have an outcome.
    package private(set) var lastNumber: Int64 = 0
    /// The largest origin of its applied writes. Later ones are new; earlier ones may have been applied before, on a
    /// line that the producer doesn't know.
    package private(set) var lastOrigin: Int64 = 0
    /// The outcomes of the last batch: the only ones that the producer may not know.
    package private(set) var results: [NumberedResult] = []
    /// The session of the last batch; nil if an earlier version has stored it.
    package private(set) var lastSession: SyncSession?
    /// The fingerprint of the last batch; nil likewise.
    private var fingerprint: String?

    package init() {}

    /// Begins a session.
    ///
    /// - Returns: Whether it is the latest. A hello that was overtaken by a later one has no effect.
    package mutating func begin(epoch: Int64) -> Bool {
        guard epoch > self.epoch else { return false }
        self.epoch = epoch
        return true
    }

    package enum Admission: Equatable, Sendable {
        case new
        /// The network has delivered the batch twice.
        case repeated([NumberedResult])
        /// Its numbers were used for other writes, or in an earlier batch.
        case reused
        /// Its session has ended, or this hub has lost writes of it.
        case refused
    }

    /// A client sends a batch after it has received the answer to the one before. So a batch with earlier numbers than the
    /// last one is that of a copy of the client, or the network delivers an answered batch again, and no client reads the
    /// second answer.
    package func admits(_ batch: HubBatch) -> Admission {
        guard batch.epoch == epoch, batch.firstNumber <= lastNumber + 1 else { return .refused }
        if batch.firstNumber == lastNumber + 1 { return .new }
        guard batch.firstNumber == results.first?.number else { return .reused }
        return fingerprint.map { $0 == batch.fingerprint } ?? true ? .repeated(results) : .reused
    }

    package mutating func applied(origin: Int64) { lastOrigin = max(lastOrigin, origin) }

    /// - Parameter batch: At least one write.
    package mutating func finish(_ batch: HubBatch, _ results: [NumberedResult]) {
        self.results = results
        lastNumber = results.last?.number ?? lastNumber
        lastSession = SyncSession(epoch: batch.epoch, line: batch.line)
        fingerprint = batch.fingerprint
    }
}
