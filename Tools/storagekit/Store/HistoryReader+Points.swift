import StorageKit

/// Points as they are written, resolved by the store, with errors that say what to type.
extension HistoryReader {
    /// The last position that belongs to the past as a point sees it; 0 is the time before the first event.
    func position(of point: PointArgument) throws -> Int64 {
        let position = try naming(point) {
            if case .time(let time) = point { return try points.position(atOrBefore: time) }
            return try points.position(of: point.storagePoint)
        }
        ServedCommand.report(point, at: position)
        return position
    }

    /// The position that rows are to go back to.
    ///
    /// - Parameters:
    ///   - point: What was typed.
    ///   - command: The same command with another point, to be typed instead.
    /// - Throws: `notFound` where it is a time before the first commit: who means a state without rows says so with @0.
    func position(toRestore point: PointArgument, typing command: (String) -> String) throws -> Int64 {
        let position = try position(of: point)
        guard position == 0, case .time = point, let first = try index.commit(1)?.info else { return position }
        throw CommandError(
            .notFound, "There is no commit at \(point) or before it.",
            why: "The first is t:1, of \(Timestamp.shown(first.time)).",
            next: "As it was first: \(command("t:1"))")
    }

    /// The position that a tag or note of a point gets.
    func taggedPosition(of point: PointArgument) throws -> Int64 {
        try naming(point) {
            if case .time = point { return try log.lastChange(through: position(of: point)) }
            return try points.taggedPosition(of: point.storagePoint)
        }
    }

    /// The commit that a point names: the one at it, or the last before it. The head's is the newest that `log` lists.
    func commit(of point: PointArgument) throws -> LogIndex.Commit {
        try naming(point) {
            guard case .time = point else { return try points.commit(of: point.storagePoint) }
            guard let commit = try index.commit(at: taggedPosition(of: point)) else {
                throw MissingPoint.anyCommit(at: point.storagePoint, head: head)
            }
            return commit
        }
    }

    /// - Throws: A `notFound` that names tags that are like it.
    func tag(named name: String) throws -> StorageTag { try naming(.tag(name)) { try points.tag(named: name) } }

    /// `@26 (t:7)`: a position, and the commit that it belongs to. Of what the store records of itself, such as an import, it is
    /// the commit before it, the newest that `log` lists up to there: a record changes no row.
    func pointText(_ position: Int64) throws -> String { try pointLine(position).plain }

    /// The same in a colour, with points that can be clicked.
    func pointLine(_ position: Int64, _ role: Style.Role = .plain) throws -> StyledLine {
        var (shown, commit) = (position, try index.commit(at: position)?.info.number)
        if commit != nil, case let last = try log.lastChange(through: position), last > 0, last < position,
            let newest = try index.commit(at: last)?.info.number
        {
            (shown, commit) = (last, newest)
        }
        var line = StyledLine(.position(shown), role)
        guard let commit else { return line }
        line.add(" (", role)
        line.add(.commit(commit), role)
        line.add(")", role)
        return line
    }

    /// The range of history that a range and two bounds leave together.
    func logRange(_ range: PointRange?, since: PointArgument? = nil, until: PointArgument? = nil) throws -> LogRange {
        var logRange = LogRange(after: 0, through: head.position)
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

    private func naming<Result>(_ point: PointArgument, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let missing as MissingPoint {
            throw CommandError(missing, at: point, first: try index.commit(1)?.info)
        }
    }
}

extension PointArgument {
    /// The point for the store's own calls, which know times by dates.
    fileprivate var storagePoint: StoragePoint {
        switch self {
        case .position(let position): .position(position)
        case .before(let position): .position(position - 1)
        case .commit(let number): .commit(number)
        case .time(let time): .time(Date(microseconds: time))
        case .head: .head
        case .beforeHead(let commits): .before(.head, commits: commits)
        case .tag(let name): .tag(name)
        case .beforeTag(let name, let commits): .before(.tag(name), commits: commits)
        }
    }
}
