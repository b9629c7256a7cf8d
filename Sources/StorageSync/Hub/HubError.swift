internal import StorageLog

/// Why a hub refuses a single request.
package enum HubError: Error, Equatable, Sendable {
    /// There is no such document or collection that the client may see.
    case notFound
    /// The client isn't allowed to do that.
    case forbidden
    /// The document doesn't meet the request's precondition.
    case preconditionFailed
    /// What was sent can't be stored or answered.
    case invalid(String)
    /// The idempotency key was used for another request.
    case keyReused
    /// The client's access is defined by a column that was dropped or renamed.
    case outdatedCondition
    /// Another program has written the document, or a row that this write also changes, bypassing the hub's log.
    case unrecorded
}

extension HubError {
    /// For an entity that isn't a ``HubEntityTable``, or an id that none of its rows can have.
    init(unserved entity: CatalogEntity, for id: String? = nil) {
        self = HubEntityTable.obstacle(of: entity, for: id).map { .invalid($0) } ?? .notFound
    }

    /// The message for the client.
    package var reason: String {
        switch self {
        case .notFound: "There is no such document."
        case .forbidden: "That isn't allowed here."
        case .preconditionFailed: "The document doesn't meet the precondition."
        case .invalid(let reason): reason
        case .keyReused: "The idempotency key was used for another request."
        case .unrecorded:
            "Another program has written the document, or a row that this write also changes, bypassing the hub's log, so it can't be changed here. The hub's operator can record it (storagekit record), or restore what the log has (storagekit rebuild)."
        case .outdatedCondition: "Access is defined by a field that was dropped or renamed."
        }
    }
}
