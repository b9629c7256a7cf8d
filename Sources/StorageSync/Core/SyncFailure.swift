/// Why there is no answer.
package enum SyncFailure: Error, Equatable {
    /// Worth trying again, perhaps not before some time; the outcome of writes isn't known.
    case retryable(afterMicroseconds: Int64?)
    /// Another session of this producer has begun, or the remote's history is another than that of the session.
    case sessionEnded
    /// The remote wants other credentials.
    case unauthorized
}
