/// An event that a core reacts to.
package enum SyncInput: Sendable, Equatable {
    /// Writes were committed: all rows of the outbox after ``Outbox/lastPosition``, read at once. Two concurrent
    /// commits may be noticed in either order, but must be sent in log order.
    case wrote([PendingWrite])
    case connected
    case disconnected
    /// The time set by ``SyncEffect/setTimer(_:)`` has come; firing early does no harm.
    case timer
    case answer(SyncAnswer, to: SyncRequest.ID)
    case failure(SyncFailure, of: SyncRequest.ID)
    /// There are new credentials.
    case authorized
    /// From now on pages cover these documents.
    case follow(FollowedDocuments)
    /// Retry now instead of waiting.
    case retryNow
    /// A parked write is to be sent again, with those of its origin.
    case retry(position: Int64)
    /// A parked write is discarded, with those of its origin.
    case discard(position: Int64)
}
