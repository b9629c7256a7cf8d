/// The outcome of a single write.
package struct HubOutcome: Sendable, Equatable {
    /// The document's version; nil if it was deleted.
    package let version: Int64?
    /// A reader at this position sees the write.
    package let position: Int64
    package let isCreated: Bool
}
