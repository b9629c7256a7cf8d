public import Foundation

/// A point in history. The state at a point is the result of all events up to it.
///
/// ```swift
/// let shipped = try await storage.asOf(.tag("release-3"))
/// let yesterday = try await storage.asOf(.time(Date(timeIntervalSinceNow: -86_400)))
/// let before = try await storage.asOf(.before(.head, commits: 1))
/// ```
public enum StoragePoint: Sendable, Hashable {
    /// The state after the event at this position; 0 is the state before the first event.
    case position(Int64)
    /// The state after the commit with this number.
    case commit(Int64)
    /// The state after the last commit that was made at this time or earlier.
    case time(Date)
    /// The state at the position that this tag has when the point is used.
    case tag(String)
    /// The state after the newest commit.
    case head
    /// A number of commits before another point: `.before(.head, commits: 1)` is the state that the newest commit changed.
    ///
    /// Commits that contain only tags, notes or operations change no state and don't count; `storagekit log` excludes them, too.
    /// Before the first commit is `.position(0)`.
    indirect case before(StoragePoint, commits: Int64)
}

extension StoragePoint: CustomStringConvertible {
    /// The point in the form that the command line accepts: `@1234`, `t:77`, `2026-01-15T10:00:00.000Z`, `tag:NAME`, `head`,
    /// `head~5`.
    public var description: String {
        switch self {
        case .position(let position): "@\(position)"
        case .commit(let number): "t:\(number)"
        case .time(let date): date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        case .tag(let name): "tag:\(name)"
        case .head: "head"
        case .before(let point, let commits): "\(point)~\(commits)"
        }
    }
}
