import StorageKit

/// The state of `storagekit ui`, and its reaction to each event. It has no terminal, store or clock, so every run can be reproduced from its events.
///
/// - There is at least one screen; the first is a timeline.
/// - Only the content of the top screen is read from the store, one read at a time; answers to an earlier read are ignored.
/// - Changes are only made from a confirmed plan.
struct Browser: Sendable {
    /// A read in progress.
    struct Reading: Sendable {
        let request: ReadRequest
        /// Its progress as text; nil as long as it is quick.
        var progress: String?
    }

    /// The store as commands name it; nil if the environment names it.
    let store: String?
    /// The store's name for the title.
    let name: String
    private(set) var size: FrameSize
    var screens: [Screen]
    var prompt: Prompt?
    var notice: Notice?
    private(set) var reading: Reading?
    /// The commit that `m` has marked.
    var mark: Int64?
    /// The newest commit when the timeline was read; `newestCommit` is the newest one now.
    private(set) var shownCommit: Int64?
    private(set) var newestCommit: Int64 = 0
    private var lastNumber = 0
    /// The time, for relative points; set by the caller that passes events.
    var now: Int64 = 0

    init(store: String?, name: String, size: FrameSize, filter: LogFilter = .all) {
        self.store = store
        self.name = name
        self.size = size
        screens = [Screen(id: 0, location: .timeline(filter))]
    }

    /// The screen that is shown.
    var top: Screen {
        get { screens[screens.count - 1] }
        set { screens[screens.count - 1] = newValue }
    }

    /// The number of commits since the timeline was read.
    var newCommits: Int64 { shownCommit.map { max(newestCommit - $0, 0) } ?? 0 }

    /// Whether a change is being applied, which is never cancelled.
    var isApplying: Bool {
        if case .apply = reading?.request.content { return true }
        return false
    }

    /// The number of lines between the title and the status, without the line of column names.
    var height: Int { max(size.rows - 3 - (top.titles.isEmpty ? 0 : 1), 1) }

    /// Starts the first read.
    mutating func begin() -> [BrowserEffect] { wanted() }

    mutating func handle(_ event: BrowserEvent) -> [BrowserEffect] {
        switch event {
        case .key(let key): return handle(key) + wanted()
        case .resized(let size):
            self.size = size
            top.window.keepVisible(height: height)
        case .answer(let number, let answer):
            guard let request = reading?.request, request.number == number else { return [] }
            return take(answer, of: request) + wanted()
        case .head(let head): newestCommit = max(newestCommit, head.commit)
        case .lost(let error): notice = .error(error)
        }
        return wanted()
    }

    // MARK: Screens

    private static let screenLimit = 50

    mutating func push(_ location: Location) -> [BrowserEffect] {
        let effects = abandon()
        lastNumber += 1
        screens.append(Screen(id: lastNumber, location: location))
        // Beyond the limit the oldest screen above the timeline is dropped, so going back still ends at the timeline.
        if screens.count > Self.screenLimit { screens.remove(at: 1) }
        return effects
    }

    mutating func pop() -> [BrowserEffect] {
        guard screens.count > 1 else { return [] }
        let effects = abandon()
        screens.removeLast()
        top.window.keepVisible(height: height)
        return effects
    }

    /// Replaces the top screen.
    mutating func replace(by location: Location) -> [BrowserEffect] {
        let effects = abandon()
        lastNumber += 1
        top = Screen(id: lastNumber, location: location)
        return effects
    }

    /// Closes all screens but the timeline.
    mutating func popToTimeline() -> [BrowserEffect] {
        let effects = abandon()
        screens.removeLast(screens.count - 1)
        return effects
    }
}

// MARK: Reading

extension Browser {
    /// Starts reading the lines that the screen lacks around its view.
    private mutating func wanted() -> [BrowserEffect] {
        guard reading == nil, top.location != .help, top.error == nil, !top.isPaused, size.isEnough else { return [] }
        let window = top.window
        guard let first = window.lines.first, let last = window.lines.last else {
            return window.hasAfter ? read(.first) : []
        }
        if window.hasAfter, window.lines.count < window.top + 2 * height { return read(.after(last.cursor)) }
        if window.hasBefore, window.top < height { return read(.before(first.cursor)) }
        return []
    }

    /// Starts reading a page, which replaces the present lines unless it adjoins them.
    mutating func read(_ page: LinePage) -> [BrowserEffect] {
        switch page {
        case .before, .after: break
        case .first, .last, .at, .point:
            top.isStale = true
            top.error = nil
        }
        top.isPaused = false
        return read(.page(page, lines: max(4 * height, 100)))
    }

    mutating func read(_ content: ReadRequest.Content) -> [BrowserEffect] {
        lastNumber += 1
        let request = ReadRequest(
            number: lastNumber, screen: top.id, openScreens: Set(screens.map(\.id)), location: top.location,
            content: content)
        reading = Reading(request: request)
        return [.read(request)]
    }

    /// Cancels the current read.
    mutating func abandon() -> [BrowserEffect] {
        guard reading != nil else { return [] }
        reading = nil
        return [.cancel]
    }

    private mutating func take(_ answer: ReadAnswer, of request: ReadRequest) -> [BrowserEffect] {
        switch answer {
        case .progress(let text): if !text.isEmpty || reading?.progress == nil { reading?.progress = text }
        case .titles(let titles):
            renew()
            top.titles = titles
            top.window.setTitles(titles)
        case .items(let items): take(items, of: request)
        case .finished(let hasMore, let head): finish(request, hasMore: hasMore, head: head)
        case .planned(let plan):
            top.plan = plan
            // What is being asked is about the plan before.
            switch prompt?.purpose {
            case .reason, .confirmation: prompt = nil
            default: break
            }
        case .applied(let text):
            reading = nil
            _ = popToTimeline()
            top.window = LineWindow()
            notice = .text(text)
        case .found(let cursor):
            reading = nil
            guard let cursor else {
                notice = .text("No match for \(top.search?.text ?? "").")
                return []
            }
            top.awaitsMatch = true
            return read(.at(cursor))
        case .failed(let error): fail(error, request)
        case .cancelled: reading = nil
        }
        return []
    }

    private mutating func take(_ items: [ScreenItem], of request: ReadRequest) {
        guard case .page(let page, _) = request.content else { return }
        renew()
        page.isBackward ? top.window.prepend(items) : top.window.append(items)
        if top.awaitsMatch, let search = top.search,
            let match = top.window.lines.firstIndex(where: { search.matches($0) })
        {
            top.window.select(match, height: height)
            top.awaitsMatch = false
        }
        top.window.keepVisible(height: height)
    }

    /// Clears the lines that are about to be replaced.
    private mutating func renew() {
        guard top.isStale else { return }
        top.isStale = false
        top.window = LineWindow()
        top.titles = []
    }

    private mutating func finish(_ request: ReadRequest, hasMore: Bool, head: LogHead) {
        reading = nil
        guard case .page(let page, _) = request.content else { return }
        renew()
        top.window.finish(page, hasMore: hasMore)
        top.window.keepVisible(height: height)
        newestCommit = max(newestCommit, head.commit)
        if page == .first, case .timeline = top.location { shownCommit = head.commit }
    }

    private mutating func fail(_ error: CommandError, _ request: ReadRequest) {
        reading = nil
        guard case .page = request.content, top.window.isEmpty else {
            // If the point doesn't exist, the list stays as it was.
            notice = .error(error)
            top.isStale = false
            top.isPaused = true
            return
        }
        top.isStale = false
        top.error = error
    }
}
