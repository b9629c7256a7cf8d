/// Why a remote will never accept a write as it is.
package enum WriteRejection: Sendable, Equatable, Codable {
    /// Another writer has deleted the document without this writer's knowledge: deletes win.
    case deleted
    /// There is no document to change.
    case missing
    /// The write is conditional, and another writer has changed the document at a position after the one the write was based on.
    case conflict(at: Int64)
    /// The write was sent, and the remote doesn't know its outcome.
    case unknown
    /// The remote's own validation failed.
    case invalid(String)
}

extension WriteRejection: CustomStringConvertible {
    package var description: String {
        switch self {
        case .deleted: "another client has deleted the document"
        case .missing: "there is no such document"
        case .conflict: "another client has changed the document meanwhile"
        case .unknown: "the remote doesn't know its outcome"
        case .invalid(let reason): reason
        }
    }
}
