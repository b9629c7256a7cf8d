/// What a store keeps about its remote, beside the outbox.
package struct SyncRecord: Sendable, Equatable, Codable {
    /// The latest session that was asked for. Sessions of lower epochs can't write any more.
    package var epoch: Int64 = 0
    /// The largest number that a write was sent under, in any session.
    package var lastNumber: Int64 = 0
    /// The last number that has an outcome that this store knows.
    package var settledNumber: Int64 = 0
    /// The history of the remote that was pulled; empty before the first session.
    package var lines: [RemoteLine] = []
    /// How far it was pulled.
    package var position: Int64 = 0
    /// What could be seen of it then, see ``SyncWelcome/access``; nil where that isn't known.
    package var access: String?
    /// Confirmed writes up to this position of the remote aren't kept any more.
    package var forgottenPosition: Int64 = 0
    /// Whether the remote has lost writes of this store that aren't kept any more: nobody sends them again.
    package var hasLostWrites = false
    /// Since the last batch that was acknowledged, or page that was pulled with nothing to send.
    package var failures = 0
    /// When the last of them was, in microseconds since 1970.
    package var failureTime: Int64 = 0
    /// How long is waited then, at random.
    package var delayMicroseconds: Int64 = 0
    /// How long the remote has asked not to be asked: no change of the network shortens it.
    package var retryAfterMicroseconds: Int64 = 0

    package init() {}

    /// That of another producer, which knows nothing of the remote yet.
    package init(after record: SyncRecord, hasLostWrites: Bool) {
        // Requests of before are none of this one's.
        epoch = record.epoch
        self.hasLostWrites = record.hasLostWrites || hasLostWrites
    }

    /// Before this time the remote isn't asked again. The delay comes on top of what it has asked for: all whom it has asked
    /// for the same would come back at once.
    package var retryTime: Int64 { failureTime + retryAfterMicroseconds + delayMicroseconds }
}
