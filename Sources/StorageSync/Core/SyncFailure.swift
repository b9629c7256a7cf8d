/// Why a request has no answer.
package enum SyncFailure: Error, Equatable {
    /// Worth retrying, possibly only after a delay; the outcome of writes isn't known.
    case retryable(afterMicroseconds: Int64?)
    /// Another session of this producer has begun, or the remote's history differs from that of the session.
    ///
    /// - Parameter epoch: That of the latest session, if there was a later one.
    case sessionEnded(epoch: Int64?)
    /// The remote refuses the batch as it is, and has changed nothing: it is too large, or malformed.
    case refused(WriteRejection)
    /// The remote requires other credentials.
    case unauthorized
}
