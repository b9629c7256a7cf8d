/// Why a remote will never accept a write as it is.
package enum WriteRejection: Sendable, Equatable {
    /// Somebody has deleted the document, which the writer didn't know: deletes win.
    case deleted
    /// There is no document to change.
    case missing
    /// It was sent, and the remote doesn't know what became of it.
    case unknown
    /// The remote's own check of what was written.
    case invalid(String)
}
