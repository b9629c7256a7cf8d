import StorageKit

/// The net changes between two points, as `diff` finds them. The events between the points are read once, and the result is kept.
final class DifferenceSource: PageSource {
    /// The difference that was read, and the cursor's position in it.
    fileprivate struct Reading {
        let difference: NetDifference
        let selection: DiffSelection
        let heading: [StyledLine]
        var cursor: NetDifference.Cursor
        /// The number of changes that the cursor has passed.
        var passed: Int64 = 0
    }

    private let request: DifferenceRequest
    private let reading = LazyValue<Reading>()

    init(_ request: DifferenceRequest) { self.request = request }

    func read(_ page: LinePage, in store: HistoryReader, to writer: PageWriter) throws {
        try reading.use(making: { try makeReading(store, writer) }) { reading in
            if page.isBackward {
                try Self.readBackward(page, with: &reading, to: writer)
            } else {
                try Self.readForward(page, with: &reading, to: writer)
            }
        }
    }

    private func makeReading(_ store: HistoryReader, _ writer: PageWriter) throws -> Reading {
        let from = try store.position(of: request.from)
        let to = try store.position(of: request.to)
        let selection = try DiffSelection(store, request.targets, from: from, to: to)
        let difference = try NetDifference(
            unread: store.connection, from: from, to: to, selection: selection.selection)
        let (lower, upper) = (min(from, to), max(from, to))
        try difference.read(store.connection) { position in
            writer.progress("\(100 * (position - lower) / max(upper - lower, 1))%")
        }
        var heading = [
            StyledLine("from \(try store.pointText(from)) to \(try store.pointText(to))", .dim)
        ]
        heading += difference.tables.filter(\.hasOtherSchema).map(\.schemaLine)
        return Reading(
            difference: difference, selection: selection, heading: heading, cursor: difference.makeCursor())
    }

    /// Item 0 is the heading, the others are changes.
    private static func readForward(_ page: LinePage, with reading: inout Reading, to writer: PageWriter) throws {
        var number: Int64
        switch page {
        case .after(let cursor): number = cursor.upperBound + 1
        case .at(let item): number = item
        default: number = 0
        }
        if number == 0 {
            number = 1
            guard try writer.add(ScreenItem(at: 0...0, reading.heading.map { ScreenLine($0) })) else { return }
        }
        try reading.move(to: number - 1, writer)
        while let change = try reading.next(), try writer.add(item(change, number: reading.passed)) {}
    }

    private static func readBackward(_ page: LinePage, with reading: inout Reading, to writer: PageWriter) throws {
        var end: Int64
        if case .before(let cursor) = page {
            end = cursor.lowerBound
        } else {
            while try reading.next() != nil { try writer.check() }
            end = reading.passed + 1
        }
        while end > 1 {
            let start = max(end - batch, 1)
            try reading.move(to: start - 1, writer)
            var items: [ScreenItem] = []
            while reading.passed + 1 < end, let change = try reading.next() {
                items.append(item(change, number: reading.passed))
            }
            for item in items.reversed() where try !writer.add(item) { return }
            end = start
        }
        if end == 1 { _ = try writer.add(ScreenItem(at: 0...0, reading.heading.map { ScreenLine($0) })) }
    }

    /// The number of changes to read at once when going back, because the cursor only moves forward.
    private static let batch: Int64 = 500

    private static func item(_ change: NetChange, number: Int64) -> ScreenItem {
        let row = RowDifference(change)
        let subject = LineSubject(row: row.target, table: row.table)
        let head = ScreenLine(row.changeLine(indent: 0), opens: .history(row.target), subject: subject)
        return ScreenItem(at: number...number, [head] + row.columnLines(opening: row.target, subject: subject))
    }
}

extension DifferenceSource.Reading {
    /// Returns the next selected change; nil at the end.
    fileprivate mutating func next() throws -> NetChange? {
        while let change = try cursor.next() {
            guard let wanted = selection.narrowed(change) else { continue }
            passed += 1
            return wanted
        }
        return nil
    }

    /// Moves the cursor past a number of changes. It only moves forward, so to go back a new one begins.
    fileprivate mutating func move(to count: Int64, _ writer: PageWriter) throws {
        if passed > count {
            cursor = difference.makeCursor()
            passed = 0
        }
        while passed < count, try next() != nil { try writer.check() }
    }
}
