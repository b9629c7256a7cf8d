/// Why a request has no answer.
package enum SyncFailure: Error, Equatable {
    /// Worth retrying, possibly only after a delay; the outcome of writes isn't known.
    ///
    /// - Parameter because: What has happened, in sentences for a person; nil if nothing is known.
    case retryable(afterMicroseconds: Int64?, because: String? = nil)
    /// Another session of this producer has begun, or the remote's history differs from that of the session.
    ///
    /// - Parameter epoch: That of the latest session, if there was a later one.
    case sessionEnded(epoch: Int64?)
    /// The numbers of the batch were used for other writes in the same session: by a copy of this process.
    case numberReused
    /// The remote refuses the batch as it is, and has changed nothing: it is too large, or malformed.
    case refused(WriteRejection)
    /// The remote requires other credentials.
    case unauthorized
}

extension SyncFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .retryable(_, let reason): reason ?? "The remote can't answer now."
        case .sessionEnded: "Another session of this store has begun, or the remote has another history."
        case .numberReused: "The numbers of the batch were used for other writes."
        case .refused(let rejection): "The remote has refused a batch: \(rejection)"
        case .unauthorized: "The remote requires other credentials."
        }
    }
}
