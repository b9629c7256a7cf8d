package import StorageCore

/// Resolves points to positions and commits in one state of a store.
///
/// Not `Sendable`: it belongs to its connection's thread.
package struct PointResolver {
    private let log: LogReader
    private let index: LogIndex
    private let tags: TagReader

    package init(log: LogReader, index: LogIndex, tags: TagReader) {
        self.log = log
        self.index = index
        self.tags = tags
    }

    /// The last position that a point includes; 0 is the time before the first event.
    ///
    /// - Throws: ``MissingPoint``.
    package func position(of point: StoragePoint) throws -> Int64 {
        switch point {
        case .head: return index.head.position
        case .position(let position):
            guard (0...index.head.position).contains(position) else {
                throw MissingPoint.position(position, head: index.head)
            }
            return position
        case .commit(0): return 0
        case .commit(let number):
            guard let commit = try index.commit(number) else { throw MissingPoint.commit(number, head: index.head) }
            return commit.positions.upperBound
        case .tag(let name): return try position(of: .position(tag(named: name).position))
        case .time(let date): return try position(atOrBefore: date.microseconds)
        case .before(let point, let commits): return try position(commits: commits, before: point)
        }
    }

    /// The end of the last commit that isn't later than a time, in microseconds since 1970; 0 if there is none.
    package func position(atOrBefore time: Int64) throws -> Int64 { try index.lastPosition(atOrBefore: time) }

    /// - Throws: ``MissingPoint`` with the existing tags.
    package func tag(named name: String) throws -> StorageTag {
        guard let tag = try tags.tag(named: name) else { throw MissingPoint.tag(name, known: try tags.names()) }
        return tag
    }

    // MARK: Steps back

    private func position(commits: Int64, before point: StoragePoint) throws -> Int64 {
        let start = try position(of: point)
        guard commits != 0 else { return start }
        let last = point == .head ? index.head.commit : try index.commit(at: start)?.info.number ?? 0
        let (number, available) = try step(commits, back: last)
        guard let number else {
            throw MissingPoint.earlier(commits: commits, than: point, available: available, last: last)
        }
        return try position(of: .commit(number))
    }

    /// Finds the commit that is a number of commits before another, skipping those that contain only tags, notes or operations,
    /// which don't change users' data.
    ///
    /// - Returns: Its number, 0 for the time before the first commit, nil if there aren't that many; and the number of available
    ///   commits.
    private func step(_ commits: Int64, back last: Int64) throws -> (number: Int64?, available: Int64) {
        guard commits > 0 else { return (nil, last) }
        // Any number beyond the existing commits is equivalent to one more than they are.
        let commits = min(commits, last + 1)
        var number = last - commits
        var seen = last
        // Each skipped commit is one step more, which may cross others to skip.
        while seen > max(number, 0) {
            let first = max(number, 0) + 1
            guard let start = try index.commit(first), let end = try index.commit(seen) else { break }
            number -= try log.annotationCount(in: start.positions.upperBound...end.positions.upperBound)
            seen = first - 1
        }
        while number > 0, let reached = try index.commit(number)?.positions.upperBound,
            try log.annotationCount(in: reached...reached) > 0
        {
            number -= 1
        }
        return (number < 0 ? nil : number, number + commits)
    }

    // MARK: Commits

    /// The position that a tag or note of a point gets.
    ///
    /// For the head and for times, trailing tags, notes and operations are excluded, because they change no state: tagging twice
    /// tags the same position, and a tag points to a commit that users see.
    package func taggedPosition(of point: StoragePoint) throws -> Int64 {
        switch point {
        case .head, .time: try log.lastChange(through: position(of: point))
        default: try position(of: point)
        }
    }

    /// The commit at a point, or the last one before it. For the head, it is the newest commit that contains more than tags,
    /// notes or operations.
    ///
    /// - Throws: ``MissingPoint``.
    package func commit(of point: StoragePoint) throws -> LogIndex.Commit {
        if case .commit(let number) = point {
            guard let commit = try index.commit(number) else { throw MissingPoint.commit(number, head: index.head) }
            return commit
        }
        let position = try point == .before(.head, commits: 0) ? taggedPosition(of: .head) : taggedPosition(of: point)
        guard let commit = try index.commit(at: position) else {
            throw MissingPoint.anyCommit(at: point, head: index.head)
        }
        return commit
    }
}
