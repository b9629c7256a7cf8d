/// A request to a remote.
package struct SyncRequest: Sendable, Equatable {
    /// Identifies a request among all those made by the cores of a store.
    package struct ID: Hashable, Sendable {
        let value: Int64
    }

    package enum Kind: Sendable, Equatable {
        /// Begins a session and ends all earlier ones of this producer: the epoch is its fencing token.
        case hello(epoch: Int64)
        /// Sends writes under consecutive numbers, by their origins: one number for all pending writes of an origin.
        case push(epoch: Int64, line: [UInt8], firstNumber: Int64, writes: [Int64])
        /// Requests the changes after a position; answered when there are some, or after a while.
        case pull(line: [UInt8], position: Int64)
    }

    package let id: ID
    package let kind: Kind
}
