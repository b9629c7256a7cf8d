package import StorageLog

/// A state that a reader has already.
package enum KnownState: Sendable {
    /// That after a position of this store's log.
    case position(Int64)
    /// The state of a token, which also identifies the history.
    case token(ChangeToken)

    package var position: Int64 {
        switch self {
        case .position(let position): position
        case .token(let token): token.position
        }
    }

    /// Whether the log has it.
    package func isKnown(to log: LogReader) throws -> Bool {
        guard position >= 0, position <= (try log.head().position) else { return false }
        guard case .token(let token) = self else { return true }
        return try log.token(at: token.position) == token
    }
}
