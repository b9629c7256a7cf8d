/// What a single request requires of the document that it writes.
package enum HubPrecondition: Sendable, Equatable {
    /// No document has the id, whether or not the client sees it.
    case absent
    /// The client sees the document.
    case exists
    /// The client sees the document, in one of these versions, which are sorted.
    case versions([Int64])
}
