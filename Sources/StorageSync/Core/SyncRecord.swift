/// What a store keeps about its remote, beside the outbox.
package struct SyncRecord: Sendable, Equatable {
    /// The latest session that was asked for. Sessions of lower epochs can't write any more.
    package var epoch: Int64 = 0
    /// The largest number that a write was sent under.
    package var lastNumber: Int64 = 0
    /// Which history of the remote was pulled; empty before the first session.
    package var line: [UInt8] = []
    /// How far it was pulled.
    package var position: Int64 = 0
    /// Since the last batch that was acknowledged, or page that was pulled with nothing to send.
    package var failures = 0
    /// When the last of them was, in microseconds since 1970.
    package var failureTime: Int64 = 0
    /// How long is waited then, at random.
    package var delayMicroseconds: Int64 = 0
    /// How long the remote has asked not to be asked: no change of the network shortens it.
    package var retryAfterMicroseconds: Int64 = 0

    package init() {}

    /// Before this time the remote isn't asked again. The delay comes on top of what it has asked for: all whom it has asked for the
    /// same would come back at once.
    package var retryTime: Int64 { failureTime + retryAfterMicroseconds + delayMicroseconds }
}
