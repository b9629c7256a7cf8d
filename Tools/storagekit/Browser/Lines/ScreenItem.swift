/// A unit of reading: a commit, a change with its columns, a row.
struct ScreenItem: Sendable {
    /// Its location in its source: positions, or a number.
    let cursor: ClosedRange<Int64>
    let lines: [ScreenLine]

    /// The maximum number of lines to keep of one item; the rest is counted.
    private static let lineLimit = 500

    init(at cursor: ClosedRange<Int64>, _ lines: [ScreenLine]) {
        self.cursor = cursor
        var kept = Array(lines.prefix(Self.lineLimit))
        if lines.count > kept.count, let last = lines.last {
            let count = NumberText.grouped(lines.count - kept.count)
            kept.append(
                ScreenLine(StyledLine("    … and \(count) more", .dim), opens: last.opens, subject: last.subject))
        }
        for index in kept.indices {
            kept[index].cursor = cursor
            kept[index].isFirst = index == 0
        }
        self.lines = kept
    }
}
