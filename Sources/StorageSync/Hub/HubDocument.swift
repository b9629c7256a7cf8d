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
