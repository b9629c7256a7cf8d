/// Why a remote will never accept a write as it is.
package enum WriteRejection: Sendable, Equatable, Codable {
    /// Somebody has deleted the document, which the writer didn't know: deletes win.
    case deleted
    /// There is no document to change.
    case missing
    /// Somebody else has changed the document at a position behind the one that the write was made on, and it was to be taken only
    /// where nobody has.
    case conflict(at: Int64)
    /// It was sent, and the remote doesn't know what became of it.
    case unknown
    /// The remote's own check of what was written.
    case invalid(String)
}
