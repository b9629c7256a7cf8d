package import StorageCore

/// Why a point can't be resolved.
///
/// The library throws its ``error`` to users; other callers can word a message from the values.
package enum MissingPoint: Error, Equatable {
    /// The log has no such position.
    case position(Int64, head: LogHead)
    /// The log has no such commit.
    case commit(Int64, head: LogHead)
    /// There is no such tag; `known` are the existing ones.
    case tag(String, known: [String])
    /// There are only `available` commits before a point, fewer than `commits`. `last` is the commit at the point.
    case earlier(commits: Int64, than: StoragePoint, available: Int64, last: Int64)
    /// No commit is at the point or before it.
    case anyCommit(at: StoragePoint, head: LogHead)
}

extension MissingPoint {
    /// The error for users of the library.
    package var error: StorageError {
        switch self {
        case .position(let position, let head):
            StorageError(
                .notFound, "There is no position \(position).",
                remedy: "The log reaches from 0, the time before everything, to \(head.position).")
        case .commit(let number, let head):
            StorageError(
                .notFound, "There is no commit \(number).", remedy: "The log has the commits 1 to \(head.commit).")
        case .tag(let name, _): .noTag(name)
        case .earlier(let commits, _, let available, _):
            StorageError(
                .notFound, "There aren't \(commits) commits before the point.",
                remedy: "Go back by \(available) at most; before the first commit is position 0.")
        case .anyCommit(_, let head):
            StorageError(
                .notFound, "There is no commit at the point or before it.",
                remedy: head.commit == 0 ? "The log is empty." : "The log has the commits 1 to \(head.commit).")
        }
    }
}

extension MissingPoint {
    /// Runs `body` and converts a missing point to the error for users of the library.
    ///
    /// - Throws: What `body` throws, but ``error`` instead of a missing point.
    package static func explained<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let missing as MissingPoint {
            throw missing.error
        }
    }
}
