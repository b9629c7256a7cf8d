/// The lines of a screen that are in memory: a window of all lines, which moves with the view.
///
/// The selection is always one of them, unless there are none.
struct LineWindow: Sendable {
    private(set) var lines: [ScreenLine] = []
    /// Whether there may be more lines before; `hasAfter` for those after.
    private(set) var hasBefore = true
    private(set) var hasAfter = true
    private(set) var selection = 0
    /// The first line that is shown.
    private(set) var top = 0
    /// The natural widths of the columns of cells.
    private(set) var widths: [Int] = []

    /// The maximum number of lines to keep; those furthest from the selection are dropped first.
    static let limit = 3_000

    var selected: ScreenLine? { lines.indices.contains(selection) ? lines[selection] : nil }
    var isEmpty: Bool { lines.isEmpty }

    mutating func setTitles(_ titles: [TableCell]) { widen(titles) }

    /// Adds items at an end, in the order of the screen.
    mutating func append(_ items: [ScreenItem]) {
        for item in items { lines += item.lines }
        widen(items)
        let surplus = lines.count - Self.limit
        guard surplus > 0 else { return }
        dropFirst(min(surplus, selection, top))
    }

    /// Adds items before the others.
    ///
    /// - Parameter items: The last one first.
    mutating func prepend(_ items: [ScreenItem]) {
        let more = items.reversed().flatMap(\.lines)
        lines = more + lines
        widen(items)
        selection += lines.count == more.count ? max(more.count - 1, 0) : more.count
        top += lines.count == more.count ? 0 : more.count
        let surplus = lines.count - Self.limit
        guard surplus > 0 else { return }
        let kept = max(lines.count - surplus, selection + 1)
        dropLast(lines.count - kept)
    }

    /// Records, at the end of a read, whether there is more at the edge that it read at.
    mutating func finish(_ page: LinePage, hasMore: Bool) {
        switch page {
        case .first:
            hasBefore = false
            hasAfter = hasMore
        case .at, .point, .after: hasAfter = hasMore
        case .before: hasBefore = hasMore
        case .last:
            hasBefore = hasMore
            hasAfter = false
        }
    }

    private mutating func dropFirst(_ count: Int) {
        // Only whole items are dropped, so that they can be read again.
        var count = count
        while count > 0, count < lines.count, !lines[count].isFirst { count -= 1 }
        guard count > 0 else { return }
        lines.removeFirst(count)
        selection -= count
        top -= count
        hasBefore = true
    }

    private mutating func dropLast(_ count: Int) {
        var kept = lines.count - count
        while kept < lines.count, !lines[kept].isFirst { kept += 1 }
        guard kept < lines.count else { return }
        lines.removeLast(lines.count - kept)
        hasAfter = true
    }

    private mutating func widen(_ items: [ScreenItem]) {
        for item in items {
            for line in item.lines { if case .cells(let cells) = line.content { widen(cells) } }
        }
    }

    private mutating func widen(_ cells: [TableCell]) {
        if widths.count < cells.count { widths += Array(repeating: 0, count: cells.count - widths.count) }
        for (index, cell) in cells.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(cell.text)) }
    }
}

// MARK: Moving

extension LineWindow {
    /// Selects a line, or the nearest one if the index is out of range.
    mutating func select(_ index: Int, height: Int) {
        selection = min(max(index, 0), max(lines.count - 1, 0))
        keepVisible(height: height)
    }

    /// Moves selection and view together, as paging does.
    mutating func scroll(by count: Int, height: Int) {
        top = min(max(top + count, 0), max(lines.count - height, 0))
        select(selection + count, height: height)
    }

    /// Selects the first line of the next item, or of the one before.
    mutating func selectItem(forward: Bool, height: Int) {
        let candidates =
            forward ? Array(lines.indices.dropFirst(selection + 1)) : lines.indices.prefix(selection).reversed()
        if let index = candidates.first(where: { lines[$0].isFirst }) { select(index, height: height) }
    }

    /// Scrolls so that the selected line is visible.
    mutating func keepVisible(height: Int) {
        let height = max(height, 1)
        if selection < top { top = selection }
        if selection >= top + height { top = selection - height + 1 }
        top = min(max(top, 0), max(lines.count - 1, 0))
    }

    /// Returns the next line from the selected one for which a condition holds; nil if there is none in memory.
    func next(forward: Bool, where holds: (ScreenLine) -> Bool) -> Int? {
        forward
            ? lines.indices.dropFirst(selection + 1).first { holds(lines[$0]) }
            : lines.indices.prefix(selection).last { holds(lines[$0]) }
    }
}
