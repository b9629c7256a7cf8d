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
    /// What the client may see is said by a column that was dropped, or has another name now.
    case outdatedCondition
}

extension HubError {
    /// For whoever sent what is refused.
    var reason: String {
        switch self {
        case .notFound: "There is no such document."
        case .forbidden: "That isn't allowed here."
        case .preconditionFailed: "The document isn't as it was expected to be."
        case .invalid(let reason): reason
        case .keyReused: "The idempotency key was used for something else."
        case .outdatedCondition: "What may be seen is said by a field that was dropped or renamed."
        }
    }
}
