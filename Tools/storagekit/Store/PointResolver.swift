import StorageCore
import StorageLog

/// Turns points as they are written into positions of a store.
struct PointResolver {
    let index: LogIndex
    let tags: TagReader
    let log: LogReader

    /// The last position that belongs to the past as a point sees it; 0 is the time before the first event.
    func position(of point: PointArgument) throws -> Int64 {
        switch point {
        case .position(let position):
            guard position <= index.head.position else { throw missing(position: position) }
            return position
        case .before(let position):
            guard position >= 1, position - 1 <= index.head.position else { throw missing(position: position) }
            return position - 1
        case .commit(let number):
            if number == 0 { return 0 }
            guard let commit = try index.commit(number) else { throw missing(commit: number) }
            return commit.positions.upperBound
        case .time(let time): return try index.lastPosition(atOrBefore: time)
        case .head: return index.head.position
        case .beforeHead(let commits):
            if commits == 0 { return index.head.position }
            let (number, all) = try step(commits, back: index.head.commit)
            guard let number else {
                throw CommandError(
                    .notFound, "There is no point head~\(commits).", why: "The store has \(all) commits.",
                    next: "The first is t:1; everything before it is @0.")
            }
            return try position(of: .commit(number))
        case .tag(let name): return try tag(name).position
        case .beforeTag(let name, let commits):
            let position = try tag(name).position
            if commits == 0 { return position }
            let tagged = try index.commit(at: position)?.info.number ?? 0
            guard let number = try step(commits, back: tagged).number else {
                throw CommandError(
                    .notFound, "There is no point tag:\(name)~\(commits).",
                    why: "The tag points to commit \(tagged).",
                    next: "The first is t:1; everything before it is @0.")
            }
            return try self.position(of: .commit(number))
        }
    }

    /// The commit that is a number of commits before another, as `log` lists them: without those that only tag, note or
    /// record what was done, which are no steps of the data.
    ///
    /// - Returns: Its number, 0 for the time before the first, nil where there aren't so many; and how many there are.
    private func step(_ commits: Int64, back last: Int64) throws -> (number: Int64?, all: Int64) {
        var number = last - commits
        var seen = last
        // Each that is passed over is one step more, which may pass others.
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

    /// - Throws: A `notFound` that names tags that are like it.
    func tag(_ name: String) throws -> StorageTag {
        if let tag = try tags.tag(named: name) { return tag }
        let names = try tags.names()
        let similar = Suggestions.nearest(to: name, among: names)
        throw CommandError(
            .notFound, "There is no tag \"\(name)\".",
            why: names.isEmpty ? "The store has no tags." : "The tags are \(Suggestions.list(names)).",
            next: similar.isEmpty
                ? "Create it: storagekit tag \(name) POINT" : "Did you mean \(similar.joined(separator: ", "))?")
    }

    /// The position that a tag or note of a point gets; see `LogReader.taggedPosition(of:)`.
    func taggedPosition(of point: PointArgument) throws -> Int64 {
        switch point {
        case .head, .time: try log.lastChange(through: position(of: point))
        default: try position(of: point)
        }
    }

    /// The commit that a point names: the one at it, or the last before it. The head's is the newest that `log` lists.
    func commit(of point: PointArgument) throws -> LogIndex.Commit {
        if case .commit(let number) = point {
            guard let commit = try index.commit(number) else { throw missing(commit: number) }
            return commit
        }
        let position = try point == .beforeHead(commits: 0) ? taggedPosition(of: .head) : taggedPosition(of: point)
        guard let commit = try index.commit(at: position) else { throw missing(before: point) }
        return commit
    }

    /// The stretch of history that a range and two bounds leave together.
    func logRange(_ range: PointRange?, since: PointArgument?, until: PointArgument?) throws -> LogRange {
        var logRange = LogRange(after: 0, through: index.head.position)
        if let after = range?.after, let through = range?.through, try position(of: after) > position(of: through) {
            throw CommandError(
                .usage, "The range ends before it begins.", next: "Write the older point first.")
        }
        if let since, let until, try position(of: since) > position(of: until) {
            throw CommandError(.usage, "--since is later than --until.", next: "Write the older point with --since.")
        }
        for point in [range?.after, since] {
            if let point { logRange.after = max(logRange.after, try position(of: point)) }
        }
        for point in [range?.through, until] {
            if let point { logRange.through = min(logRange.through, try position(of: point)) }
        }
        return logRange
    }

    func missing(position: Int64) -> CommandError {
        let head = index.head.position
        guard head > 0 else { return nothingYet("@\(position)") }
        let nearest = min(max(position, 1), head)
        return CommandError(
            .notFound, "There is no event @\(position).", why: "The log has the events @1 to @\(head).",
            next: "The nearest is @\(nearest). Type: storagekit show @\(nearest)")
    }

    func missing(commit: Int64) -> CommandError {
        let head = index.head.commit
        guard head > 0 else { return nothingYet("t:\(commit)") }
        let nearest = min(max(commit, 1), head)
        return CommandError(
            .notFound, "There is no commit t:\(commit).", why: "The log has the commits t:1 to t:\(head).",
            next: "The nearest is t:\(nearest). Type: storagekit show t:\(nearest)")
    }

    private func missing(before point: PointArgument) -> CommandError {
        guard index.head.position > 0 else { return nothingYet("\(point)") }
        return CommandError(
            .notFound, "There is no commit at \(point) or before it.", why: "History begins later.",
            next: "The nearest is t:1. Type: storagekit show t:1")
    }

    private func nothingYet(_ point: String) -> CommandError {
        CommandError(
            .notFound, "There is no \(point).", why: "The store is empty.",
            next: "Import a history first: storagekit import FILE")
    }
}

/// A resolved stretch of history: what came after one position, up to and including another.
struct LogRange: Equatable, Sendable {
    var after: Int64
    var through: Int64

    var isEmpty: Bool { through <= after }
    /// The positions inside; only for stretches that aren't empty.
    var positions: ClosedRange<Int64> { (after + 1)...max(through, after + 1) }
}

extension LogRange: CustomStringConvertible {
    /// The stretch as it can be typed again.
    var description: String { "@\(after)..@\(through)" }
}
