public import Foundation

/// A point in history. The state at a point is the result of all events up to it.
public enum StoragePoint: Sendable, Hashable {
    /// After the event at this position; 0 is the time before the first.
    case position(Int64)
    /// After this commit.
    case commit(Int64)
    /// After the last commit that isn't later than this time.
    case time(Date)
    /// Where this tag points to now.
    case tag(String)
    /// After the newest commit.
    case head
}
