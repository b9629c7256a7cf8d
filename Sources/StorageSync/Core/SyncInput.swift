/// What happens to a core.
package enum SyncInput: Sendable, Equatable {
    /// Writes were committed: all rows of the outbox behind ``Outbox/lastPosition``, read at once. Two that were committed side
    /// by side may be noticed in the other order, but must not be sent in it.
    case wrote([PendingWrite])
    case connected
    case disconnected
    /// The time that was set by ``SyncEffect/setTimer(_:)`` has come; too early does no harm.
    case timer
    case answer(SyncAnswer, to: SyncRequest.ID)
    case failure(SyncFailure, of: SyncRequest.ID)
    /// There are new credentials.
    case authorized
    /// Pages have these documents from now on.
    case follow(FollowedDocuments)
    /// Somebody doesn't want to wait.
    case retryNow
    /// A parked write is to be sent again, with those of its origin.
    case retry(position: Int64)
    /// A parked write is given up, with those of its origin.
    case discard(position: Int64)
}
