import StorageKit

/// Resolves points as they are written, with errors that say what to type.
extension HistoryReader {
    /// Returns the last position that a point includes; 0 is before the first event.
    func position(of point: PointArgument) throws -> Int64 {
        let position = try naming(point) {
            if case .time(let time) = point { return try points.position(atOrBefore: time) }
            return try points.position(of: point.storagePoint)
        }
        ServedCommand.report(point, at: position)
        return position
    }

    /// Returns the position that rows are restored to.
    ///
    /// - Parameters:
    ///   - point: The point as it was typed.
    ///   - command: Returns the same command with another point, to be typed instead.
    /// - Throws: `notFound` for a time before the first commit: a state without rows must be requested with @0.
    func position(toRestore point: PointArgument, typing command: (String) -> String) throws -> Int64 {
        let position = try position(of: point)
        guard position == 0, case .time = point, let first = try index.commit(1)?.info else { return position }
        throw CommandError(
            .notFound, "There is no commit at \(point) or before it.",
            why: "The first is t:1, of \(Timestamp.shown(first.time)).",
            next: "As it was first: \(command("t:1"))")
    }

    /// Returns the position for a tag or note of a point.
    func taggedPosition(of point: PointArgument) throws -> Int64 {
        try naming(point) {
            if case .time = point { return try log.lastChange(through: position(of: point)) }
            return try points.taggedPosition(of: point.storagePoint)
        }
    }

    /// Returns the commit at a point, or the last one before it. For the head it is the newest that `log` lists.
    func commit(of point: PointArgument) throws -> LogIndex.Commit {
        try naming(point) {
            guard case .time = point else { return try points.commit(of: point.storagePoint) }
            guard let commit = try index.commit(at: taggedPosition(of: point)) else {
                throw MissingPoint.anyCommit(at: point.storagePoint, head: head)
            }
            return commit
        }
    }

    /// - Throws: `notFound` with similar tags.
    func tag(named name: String) throws -> StorageTag { try naming(.tag(name)) { try points.tag(named: name) } }

    /// Returns `@26 (t:7)`: a position, and its commit. For a commit that only records an operation, such as an import, it is the newest commit up to
    /// there that `log` lists, because a record changes no rows.
    func pointText(_ position: Int64) throws -> String { try pointLine(position).plain }

    /// Returns the same with colour and links.
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

    /// Returns the intersection of a range and two bounds.
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
    /// The point for the store's own calls, which use dates for times.
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
