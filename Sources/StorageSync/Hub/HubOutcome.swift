/// What a single write has led to.
package struct HubOutcome: Sendable, Equatable {
    /// Of the document; nil where it was deleted.
    package let version: Int64?
    /// A reader at this position sees the write.
    package let position: Int64
    package let isCreated: Bool
}
