/// Permanently identifies a single write: repeating it returns the first outcome.
package struct HubRequestKey: Sendable, Equatable {
    package let value: String
    /// A fingerprint of the request: using the same key for another request is refused.
    package let fingerprint: [UInt8]

    package init(value: String, fingerprint: [UInt8]) {
        self.value = value
        self.fingerprint = fingerprint
    }
}
