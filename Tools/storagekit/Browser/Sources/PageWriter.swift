/// Where a source puts the items of a page: it passes them on as they are found, and says when there are enough.
///
/// Not `Sendable`: it lives inside of one read, on its thread.
final class PageWriter {
    /// Passes an answer on; false where nobody waits for it any more.
    private let send: (ReadAnswer) -> Void
    private let wanted: Int
    private let search: LineSearch?
    private let isCancelled: () -> Bool
    private var held: [ScreenItem] = []
    private var lines = 0
    private var characters = 0
    private var searched = 0
    private var lastSent: ContinuousClock.Instant?
    /// Where the search found something.
    private(set) var match: Int64?

    /// So long lines may be together that a page ends early.
    private static let characterLimit = 2_000_000
    private static let interval = Duration.milliseconds(30)

    /// - Parameters:
    ///   - lines: How many are wanted.
    ///   - search: What one of them must contain; then none is passed on, and the first such item ends the page.
    init(
        lines: Int, search: LineSearch?, isCancelled: @escaping () -> Bool, send: @escaping (ReadAnswer) -> Void
    ) {
        wanted = lines
        self.search = search
        self.isCancelled = isCancelled
        self.send = send
    }

    /// Whether there is no room for more; the source may have some.
    var isFull: Bool { search != nil ? match != nil : lines >= wanted || characters >= Self.characterLimit }

    /// - Returns: Whether more are wanted.
    /// - Throws: `CancellationError` where nobody waits any more.
    func add(_ item: ScreenItem) throws -> Bool {
        try check()
        if let search {
            searched += 1
            if searched % 1_000 == 0 { progress("\(NumberText.grouped(searched)) searched") }
            if item.lines.contains(where: search.matches) { match = item.cursor.lowerBound }
            return match == nil
        }
        held.append(item)
        lines += item.lines.count
        characters += item.lines.reduce(0) { $0 + $1.size }
        // The first is seen at once.
        let now = ContinuousClock.now
        if lastSent.map({ now - $0 >= Self.interval }) ?? true {
            flush()
            lastSent = now
        }
        return !isFull
    }

    func titles(_ titles: [TableCell]) { if search == nil { send(.titles(titles)) } }

    func progress(_ text: String) { send(.progress(text)) }

    /// To be called often in long work.
    func check() throws { if isCancelled() { throw CancellationError() } }

    func flush() {
        if !held.isEmpty { send(.items(held)) }
        held = []
    }
}

extension ScreenLine {
    /// About how much memory it takes.
    fileprivate var size: Int {
        switch content {
        case .text(let line): line.parts.reduce(0) { $0 + $1.text.utf8.count }
        case .cells(let cells): cells.reduce(0) { $0 + $1.text.utf8.count }
        }
    }
}
