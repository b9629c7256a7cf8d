internal import StorageCore

/// A document as a hub has it.
package struct HubDocument: Sendable, Equatable {
    package let id: String
    /// The position of its last change.
    package let version: Int64
    /// JSON texts by key; a key whose value is null is missing.
    package let fields: [String: String]

    package init(id: String, version: Int64, fields: [String: String]) {
        self.id = id
        self.version = version
        self.fields = fields
    }
}

/// Documents by id, up to a limit.
package struct HubDocuments: Sendable {
    package let documents: [HubDocument]
    /// Whether more follow behind the last one.
    package let hasMore: Bool
    /// The hub's last position when they were read.
    package let position: Int64
    package let line: [UInt8]
}

/// What a single write needs to find.
package enum HubExpectation: Sendable, Equatable {
    case anything
    case absent
    case present
    /// The document as of its last change.
    case version(Int64)
}

/// Why a hub doesn't do what a single request asks.
package enum HubError: Error, Equatable, Sendable {
    /// There is no such document or collection, or none that the client may see.
    case notFound
    /// The client may not do that.
    case forbidden
    /// The document isn't as the request expects it.
    case preconditionFailed
    /// What was sent can't be stored.
    case invalid(String)
    /// An idempotency key that was used for something else.
    case keyReused
}
