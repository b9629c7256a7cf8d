/// What a store keeps about its remote, beside the outbox.
package struct SyncRecord: Sendable, Equatable, Codable {
    /// The latest requested session. Sessions with lower epochs can't write any more.
    package var epoch: Int64 = 0
    /// The largest number under which a write was sent, in any session.
    package var lastNumber: Int64 = 0
    /// The session in which a write was last sent; nil if an earlier version has sent it.
    package var lastSession: SyncSession?
    /// The last number whose outcome this store knows.
    package var settledNumber: Int64 = 0
    /// The remote's history as pulled; empty before the first session.
    package var lines: [RemoteLine] = []
    /// The position up to which the remote was pulled.
    package var position: Int64 = 0
    /// What was visible then, see ``SyncWelcome/access``; nil if unknown.
    package var access: String?
    /// Confirmed writes up to this position of the remote aren't kept any more.
    package var forgottenPosition: Int64 = 0
    /// Whether the remote has lost writes of this store that aren't kept any more, so they are never sent again.
    package var hasLostWrites = false
    /// Failures since the last acknowledged batch, or the last page pulled while nothing was to be sent.
    package var failures = 0
    /// The time of the last failure, in microseconds since 1970.
    package var failureTime: Int64 = 0
    /// The random delay after it.
    package var delayMicroseconds: Int64 = 0
    /// The delay that the remote has requested: no change of the network shortens it.
    package var retryAfterMicroseconds: Int64 = 0

    package init() {}

    /// The record of another producer, which knows nothing about the remote yet.
    package init(after record: SyncRecord, hasLostWrites: Bool) {
        // Requests made before belong to the earlier producer.
        epoch = record.epoch
        self.hasLostWrites = record.hasLostWrites || hasLostWrites
    }

    /// The earliest time to contact the remote again. The random delay is added to the requested one: otherwise all
    /// clients with the same requested delay would return at once.
    package var retryTime: Int64 { failureTime + retryAfterMicroseconds + delayMicroseconds }
}
