/// Receives the items of a page from a source, passes them on as they are found, and reports when there are enough.
///
/// Not `Sendable`: it is used inside one read, on its thread.
final class PageWriter {
    /// Passes an answer on.
    private let send: (ReadAnswer) -> Void
    private let wanted: Int
    private let search: LineSearch?
    private let isCancelled: () -> Bool
    private var held: [ScreenItem] = []
    private var lines = 0
    private var characters = 0
    private var searched = 0
    private var lastSent: ContinuousClock.Instant?
    /// The location at which the search found something.
    private(set) var match: Int64?

    /// The total length of lines at which a page ends early.
    private static let characterLimit = 2_000_000
    private static let interval = Duration.milliseconds(30)

    /// - Parameters:
    ///   - lines: The number of lines to read.
    ///   - search: A text to find; then no items are passed on, and the first matching item ends the page.
    init(
        lines: Int, search: LineSearch?, isCancelled: @escaping () -> Bool, send: @escaping (ReadAnswer) -> Void
    ) {
        wanted = lines
        self.search = search
        self.isCancelled = isCancelled
        self.send = send
    }

    /// Whether the page is full; the source may have more items.
    var isFull: Bool { search != nil ? match != nil : lines >= wanted || characters >= Self.characterLimit }

    /// - Returns: Whether more are wanted.
    /// - Throws: `CancellationError` if the read was cancelled.
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
        // The first item is shown at once.
        let now = ContinuousClock.now
        if lastSent.map({ now - $0 >= Self.interval }) ?? true {
            flush()
            lastSent = now
        }
        return !isFull
    }

    func titles(_ titles: [TableCell]) { if search == nil { send(.titles(titles)) } }

    func progress(_ text: String) { send(.progress(text)) }

    /// Throws if the read was cancelled. Call it often during long work.
    func check() throws { if isCancelled() { throw CancellationError() } }

    func flush() {
        if !held.isEmpty { send(.items(held)) }
        held = []
    }
}

extension ScreenLine {
    /// Its approximate memory use.
    fileprivate var size: Int {
        switch content {
        case .text(let line): line.parts.reduce(0) { $0 + $1.text.utf8.count }
        case .cells(let cells): cells.reduce(0) { $0 + $1.text.utf8.count }
        }
    }
}
