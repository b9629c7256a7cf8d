/// Draws the state of a browser into a frame, without a terminal, so that tests can compare frames.
struct BrowserDrawing {
    private let browser: Browser
    private var frame: Frame

    static func frame(of browser: Browser) -> Frame {
        var drawing = BrowserDrawing(browser)
        drawing.draw()
        return drawing.frame
    }

    private init(_ browser: Browser) {
        self.browser = browser
        frame = Frame(browser.size)
    }

    private var size: FrameSize { browser.size }
    private var top: Screen { browser.top }

    private mutating func draw() {
        guard size.isEnough else {
            let text = "At least \(FrameSize.least.columns) columns and \(FrameSize.least.rows) rows are needed."
            for (row, line) in WrappedText.lines(text, width: size.columns).enumerated() {
                frame.draw(StyledLine(shown: line), row: row)
            }
            return
        }
        frame.draw(title, row: 0, isInverse: true)
        var row = 1
        if let titles = titleLine {
            frame.draw(titles, row: row, lead: "  ", from: top.left)
            row += 1
        }
        drawLines(from: row)
        frame.draw(status, row: size.rows - 2)
        drawBottom()
    }

    // MARK: Title

    private var title: StyledLine {
        var line = StyledLine(" \(browser.name)", .heading)
        line.add("  \(top.location.title)")
        let new = browser.newCommits
        let right = new > 0 ? "\(NumberText.count(new, "new commit")): f " : ""
        let free = size.columns - DisplayWidth.of(right)
        let left = line.clipped(to: free - 1)
        line = left
        line.add(String(repeating: " ", count: max(free - DisplayWidth.of(left.plain), 0)))
        line.add(right, .heading)
        return line
    }

    // MARK: Lines

    /// The names of the columns; nil if lines aren't cells.
    private var titleLine: StyledLine? {
        guard !top.titles.isEmpty else { return nil }
        return layout([]).first
    }

    /// Lays out lines of cells. Columns are as wide as all lines in memory need, so that they don't move while scrolling.
    private func layout(_ rows: [[TableCell]]) -> [StyledLine] {
        // When scrolled to the right, columns keep their full width.
        var layout = TableLayout(top.titles.map { .init(title: $0) }, width: top.left > 0 ? nil : size.columns - 2)
        for row in rows { layout.add(row) }
        return layout.styledLines(natural: top.window.widths.map { min($0, Self.widestColumn) })
    }

    private static let widestColumn = 200

    private mutating func drawLines(from first: Int) {
        let window = top.window
        guard !window.isEmpty else { return drawEmpty(from: first) }
        let visible = window.lines.indices.dropFirst(window.top).prefix(browser.height)
        for (offset, index) in visible.enumerated() {
            let line = window.lines[index]
            let isSelected = index == window.selection
            let isMarked = line.isFirst && browser.mark != nil && line.subject.commit == browser.mark
            let content: StyledLine
            switch line.content {
            case .text(let text): content = text
            case .cells(let cells): content = layout([cells]).last ?? StyledLine()
            }
            frame.draw(
                highlighted(content, line), row: first + offset,
                lead: (isSelected ? ">" : " ") + (isMarked ? "*" : " "),
                from: top.left, isInverse: isSelected)
        }
    }

    /// Highlights a line that matches the search.
    private func highlighted(_ content: StyledLine, _ line: ScreenLine) -> StyledLine {
        guard let search = top.search, search.matches(line) else { return content }
        return content.with(.changed)
    }

    private mutating func drawEmpty(from first: Int) {
        guard let error = top.error else {
            let text = browser.reading != nil && !top.isPaused ? "Reading…" : Self.emptyText(top.location)
            frame.draw(StyledLine(text, .dim), row: first, lead: "  ")
            return
        }
        for (offset, line) in Self.lines(of: error, width: size.columns - 4).prefix(browser.height).enumerated() {
            frame.draw(line, row: first + offset, lead: "  ")
        }
    }

    private static func emptyText(_ location: Location) -> String {
        switch location {
        case .timeline(let filter): filter.isEmpty ? "The log is empty." : "No commit matches."
        case .difference: "No row differs."
        case .tables: "There are no tables."
        case .rows: "The table is empty."
        case .history: "There is no version."
        case .plan: "Nothing to do."
        case .commit, .help: ""
        }
    }

    // MARK: Bottom

    private var status: StyledLine {
        var line = StyledLine()
        if let progress = browser.reading?.progress {
            line.addWord(browser.isApplying ? " writing…" : " reading…", .changed)
            line.addWord(progress)
            line.addWord("Esc cancels", .dim)
        } else if let plan = top.plan {
            line.addWord(" " + plan.summary, plan.isRefused ? .removed : .plain)
        } else if !top.window.isEmpty {
            let window = top.window
            let position =
                !window.hasBefore && window.selection == 0
                ? "beginning" : !window.hasAfter && window.selection == window.lines.count - 1 ? "end" : ""
            line.addWord(" " + position, .dim)
        }
        if let search = top.search { line.addWord("/\(search.text)", .changed) }
        if let mark = browser.mark { line.addWord("* t:\(mark)", .changed) }
        return line
    }

    private mutating func drawBottom() {
        let row = size.rows - 1
        if let prompt = browser.prompt { return draw(prompt, row: row) }
        switch browser.notice {
        case nil: frame.draw(StyledLine(" " + hints, .dim), row: row)
        case .text(let text): draw(WrappedText.lines(text, width: size.columns - 2).map { StyledLine(shown: $0) })
        case .command(let text):
            draw(WrappedText.lines(text, width: size.columns - 2).map { StyledLine(shown: $0, .heading) })
        case .error(let error): draw(Self.lines(of: error, width: size.columns - 2))
        }
    }

    /// Draws lines over the last rows of the frame, as many as are needed.
    private mutating func draw(_ lines: [StyledLine]) {
        let lines = lines.prefix(size.rows / 2)
        for (offset, line) in lines.enumerated() {
            frame.draw(line, row: size.rows - lines.count + offset, lead: " ")
        }
    }

    private static func lines(of error: CommandError, width: Int) -> [StyledLine] {
        let parts: [(String, Style.Role)] = [
            ("error: \(error.what)", .removed), (error.why, .plain), (error.next, .plain),
        ]
        return parts.filter { !$0.0.isEmpty }.flatMap { text, role in
            WrappedText.lines(text, width: width).map { StyledLine(shown: $0, role) }
        }
    }

    private mutating func draw(_ prompt: Prompt, row: Int) {
        let before = DisplayWidth.of(TerminalText.visible(prompt.label + String(prompt.text.prefix(prompt.cursor))))
        // Of a long line, the part being typed is shown.
        let start = max(before - size.columns + 2, 0)
        var line = StyledLine(prompt.label, .heading)
        line.add(prompt.line)
        frame.draw(line, row: row, from: start)
        frame.cursor = (row, min(before - start, size.columns - 1))
    }

    private var hints: String {
        switch top.location {
        case .timeline: "Enter show  / search  & filter  : go to  u undo  c command  ? keys  q quit"
        case .plan:
            top.plan.map { $0.isRefused ? "s skip conflicts  o overwrite  q back" : "Enter continue  q back" }
                ?? "q back"
        case .help: "q back"
        default: "Enter show  / search  : go to  c command  ? keys  q back"
        }
    }
}
