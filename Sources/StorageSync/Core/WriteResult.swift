/// What a remote did with a write.
package enum WriteResult: Sendable, Equatable, Codable {
    /// The write is part of the remote's log from this position on.
    case applied(at: Int64)
    case rejected(WriteRejection)
    /// Skipped, because an earlier write of the same document in the same batch was rejected.
    case blocked
}
