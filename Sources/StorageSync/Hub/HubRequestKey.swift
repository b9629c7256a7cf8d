/// Names a single write for ever: one that comes again has the first one's outcome.
package struct HubRequestKey: Sendable, Equatable {
    package let value: String
    /// Of what is asked: the same key for something else is refused.
    package let fingerprint: [UInt8]

    package init(value: String, fingerprint: [UInt8]) {
        self.value = value
        self.fingerprint = fingerprint
    }
}
