import StorageKit

/// Prints the events that a replay steps through.
final class ReplayPrinter {
    let output: ResultOutput
    /// Whether only watches and stops are printed.
    let isQuiet: Bool
    private let unit: ReplayUnit
    private let store: HistoryReader
    /// The commit whose events are being printed.
    private var commit: Int64?
    private var isFirst = true

    init(_ store: HistoryReader, _ output: ResultOutput, unit: ReplayUnit, isQuiet: Bool) {
        self.store = store
        self.output = output
        self.unit = unit
        self.isQuiet = isQuiet
    }

    /// Resets the last printed commit, so that the next event prints its own.
    func breakOff() { commit = nil }

    func write(_ event: StorageEvent, _ part: CommitPart, in batch: EventBatch) throws {
        guard !isQuiet else { return }
        if output.format == .human {
            try writeHeading(of: event, part, in: batch, prefix: "")
            try output.line(event.changeLine(indent: indent, showsPosition: unit == .commit))
            for line in event.columnLines(indent: indent + 4) { try output.line(line) }
        } else {
            try output.record(EventRecord(event: event))
        }
        try output.flushIfDue()
    }

    func writeUndone(_ event: StorageEvent, _ part: CommitPart, in batch: EventBatch) throws {
        guard !isQuiet else { return }
        let undone = UndoneEvent(event: event)
        if output.format == .human {
            try writeHeading(of: event, part, in: batch, prefix: "back  ")
            var line = undone.changeLine(indent: indent)
            if unit == .commit { line.addWord(.position(event.position), .dim) }
            try output.line(line)
            for line in undone.columnLines(indent: indent + 4) { try output.line(line) }
        } else {
            try output.record(UndoneEventRecord(event: event))
        }
        try output.flushIfDue()
    }

    private var indent: Int { 4 }

    /// A line for each commit, or for each event.
    private func writeHeading(of event: StorageEvent, _ part: CommitPart, in batch: EventBatch, prefix: String) throws {
        if unit == .commit, commit == event.commit.number { return }
        commit = event.commit.number
        if !isFirst { try output.line() }
        isFirst = false
        var line = StyledLine(prefix, .dim)
        if unit == .commit {
            line.add(CommitText.headline(part.info, at: try store.index.positions(of: part, in: batch)))
            line.addWord(CommitText.reason(part.info.metadata))
        } else {
            line.add(event.headline(showsTarget: false))
        }
        try output.line(line)
    }

    func writeWatched(
        _ change: (column: String, old: StorageEvent.Field?, new: StorageEvent.Field?), of probe: RowProbe,
        by event: StorageEvent, isUndone: Bool
    ) throws {
        let (old, new) = isUndone ? (change.new, change.old) : (change.old, change.new)
        let cell = TargetArgument(table: probe.target.table, id: probe.target.id, column: change.column)
        if output.format == .human {
            var line = StyledLine("watch  ", .dim)
            line.add(cell.description, .heading)
            line.add("  ")
            line.add(old.map { ValueText.text($0) } ?? "nothing", old == nil ? .dim : .removed)
            line.add(" → ")
            line.add(new.map { ValueText.text($0) } ?? "nothing", new == nil ? .dim : .added)
            line.addWord(.position(event.position), .dim)
            line.addWord(.commit(event.commit.number), .dim)
            try output.line(line)
        } else {
            try output.record(WatchedCellRecord(cell: cell, event: event, old: old, new: new))
        }
        try output.flushIfDue()
    }

    /// Writes a change of a row of the folded projection.
    func writeFolded(_ change: RowDifference, at position: Int64) throws {
        guard !isQuiet else { return }
        if output.format == .human {
            var line = StyledLine("  ⇒ ", .dim)
            line.add(change.changeLine(indent: 0))
            try output.line(line)
            for line in change.columnLines(indent: 8) { try output.line(line) }
        } else {
            try output.record(FoldedChangeRecord(change: change, position: position))
        }
        try output.flushIfDue()
    }

    /// Writes where the replay has stopped and why.
    func write(_ stop: ReplayStop, at position: Int64) throws {
        let commit = try store.index.commit(at: position)?.info.number
        let location = "@\(position)" + (commit.map { " (t:\($0))" } ?? "")
        if output.format == .human {
            if !isFirst { try output.line() }
            isFirst = false
            try output.line(line(for: stop, at: location))
        } else {
            let cause: ReplayStopRecord.Cause? =
                switch stop {
                case .condition(let text, let event): .condition(text, event: event)
                case .failure(let text, let event): .error(text, event: event)
                case .step, .end, .beginning, .point: nil
                }
            try output.record(ReplayStopRecord(stop: stop.name, cause: cause, position: position, commit: commit))
        }
        breakOff()
        try output.flush()
    }

    private func line(for stop: ReplayStop, at location: String) -> StyledLine {
        var line = StyledLine()
        switch stop {
        case .condition(let text, let position):
            line.add("stopped after \(location): ", .changed)
            line.add(text, .heading)
            line.addWord("by @\(position)", .dim)
        case .failure(let text, let position):
            line.add("stopped after \(location): ", .removed)
            line.add(text)
            line.addWord("by @\(position)", .dim)
        case .end: line.add("The end of the range: \(location).", .dim)
        case .beginning: line.add("The beginning of the range: \(location).", .dim)
        case .step, .point: line.add("at \(location)", .dim)
        }
        return line
    }
}
