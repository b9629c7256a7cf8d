import StorageKit

/// Commits as `log` finds them, newest first.
struct TimelineSource: PageSource {
    let filter: LogFilter

    /// The number of events in a part of the log: reading in parts shows progress even if nothing matches.
    private static let step: Int64 = 100_000

    func read(_ page: LinePage, in store: HistoryReader, to writer: PageWriter) throws {
        var filter = try self.filter.resolved(in: store)
        switch page {
        case .first, .last: break
        case .after(let cursor): filter.logRange.through = min(filter.logRange.through, cursor.lowerBound - 1)
        case .before(let cursor): filter.logRange.after = max(filter.logRange.after, cursor.upperBound)
        case .at(let position):
            let end = try store.index.commit(at: position)?.positions.upperBound ?? position
            filter.logRange.through = min(filter.logRange.through, end)
        case .point(let point):
            let end = try store.commit(of: point).positions.upperBound
            filter.logRange.through = min(filter.logRange.through, end)
        }
        try forEachCommit(filter, in: store, descending: !page.isBackward, writer) { commit in
            try writer.add(Self.item(AnnotatedCommit(commit, store.tags)))
        }
    }

    private func forEachCommit(
        _ filter: ChangeFilter, in store: HistoryReader, descending: Bool, _ writer: PageWriter,
        _ body: (CommitSummary) throws -> Bool
    ) throws {
        // Following the chains of rows isn't divided into parts.
        let isChain = !filter.rows.isEmpty && filter.tables.isEmpty
        let whole = filter.logRange
        var rest = whole
        while !rest.isEmpty {
            var part = filter
            part.logRange = isChain ? rest : try Self.part(of: rest, in: store, descending: descending)
            part.query.positions = part.logRange.positions
            var wantsMore = true
            try ChangeScan(store: store, filter: part).forEachCommit(descending: descending) { commit, _ in
                wantsMore = try body(commit)
                return wantsMore
            }
            guard wantsMore else { return }
            if descending { rest.through = part.logRange.after } else { rest.after = part.logRange.through }
            try writer.check()
            let left = Double(rest.through - rest.after) / Double(max(whole.through - whole.after, 1))
            if !rest.isEmpty { writer.progress("\(Int(100 * (1 - left)))%") }
        }
    }

    /// The first part of a range in a direction. It doesn't end inside a commit.
    private static func part(of range: LogRange, in store: HistoryReader, descending: Bool) throws -> LogRange {
        guard range.through - range.after > step else { return range }
        if descending {
            let commit = try store.index.commit(at: range.through - step + 1)
            let after = max(commit.map { $0.positions.lowerBound - 1 } ?? range.after, range.after)
            return LogRange(after: after, through: range.through)
        }
        let commit = try store.index.commit(at: range.after + step)
        let through = min(commit?.positions.upperBound ?? range.through, range.through)
        return LogRange(after: range.after, through: through)
    }

    /// `t:12  2024-05-01 10:00:00  anna (web)  posts +3 ~1  "why"`
    private static func item(_ commit: AnnotatedCommit) -> ScreenItem {
        let info = commit.info
        let number = "t:\(info.number)"
        var line = StyledLine(number + String(repeating: " ", count: max(8 - number.count, 0)), .heading)
        line.add("  " + Timestamp.clock(info.time), .dim)
        line.add(shown: "  " + padded(CommitText.author(info.metadata), to: 16))
        for tag in commit.tags { line.add("  tag:\(tag.name)", .changed) }
        for (index, change) in commit.changes.enumerated() {
            line.add(index == 0 ? "  " : ", ")
            line.add(change.table + " ")
            change.counts.add(to: &line)
        }
        line.addWord(CommitText.reason(info.metadata))
        let subject = LineSubject(commit: info.number, actor: info.metadata.actor)
        return ScreenItem(at: commit.positions, [ScreenLine(line, opens: .commit(info.number), subject: subject)])
    }

    /// Text as it is shown, padded or truncated to a column's width.
    private static func padded(_ text: String, to width: Int) -> String {
        let text = DisplayWidth.truncated(TerminalText.visible(text), to: width)
        return text + String(repeating: " ", count: max(width - DisplayWidth.of(text), 0))
    }
}
