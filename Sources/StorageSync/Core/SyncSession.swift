/// Identifies a session among all those of a producer: a remote accepts an epoch once on each line of its history, no
/// matter which process asks for it. So two copies of a store have different ones, unless a running process was copied.
package struct SyncSession: Sendable, Equatable, Codable {
    package let epoch: Int64
    /// The id of the remote's line on which the session was begun.
    package let line: [UInt8]

    package init(epoch: Int64, line: [UInt8]) {
        self.epoch = epoch
        self.line = line
    }
}
