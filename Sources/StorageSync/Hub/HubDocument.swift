internal import StorageCore

/// A document at a hub.
package struct HubDocument: Sendable, Equatable {
    package let id: String
    /// The position of its last change.
    package let version: Int64
    /// JSON texts by key; keys with a null value are omitted.
    package let fields: [String: String]

    package init(id: String, version: Int64, fields: [String: String]) {
        self.id = id
        self.version = version
        self.fields = fields
    }
}
