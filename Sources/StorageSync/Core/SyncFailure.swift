/// Why there is no answer.
package enum SyncFailure: Error, Equatable {
    /// Worth trying again, perhaps not before some time; the outcome of writes isn't known.
    case retryable(afterMicroseconds: Int64?)
    /// Another session of this producer has begun, or the remote's history is another than that of the session.
    /// - Parameter epoch: That of the latest session, where there was a later one.
    case sessionEnded(epoch: Int64?)
    /// The remote doesn't take the batch as it is, and has changed nothing: it is too large, or malformed.
    case refused(WriteRejection)
    /// The remote wants other credentials.
    case unauthorized
}
