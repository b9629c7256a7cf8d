public import Observation
internal import StorageCore
public import StorageEntities

/// One page of the rows that a query finds, live, with the total number of rows.
///
/// ```swift
/// let page = PaginatedQuerySubscription(storage.query(Post.self).orderBy(\.createdAt, .descending), pageSize: 20)
/// await page.goToNextPage()
/// print(page.currentPage, "page \(page.currentPageIndex + 1) of \(page.totalPages)")
/// ```
///
/// Rows before and after the page are kept ready and up to date, so turning to the next page is immediate, and a row
/// deleted from this one is replaced without a query. Jumping to a distant page costs as much as SQL's `OFFSET`.
@MainActor @Observable
public final class PaginatedQuerySubscription<Entity: RegisteredEntity>: StorageSubscription {
    /// How pages follow one another.
    public enum Style: Sendable {
        /// A page is identified by its number: page 2 always holds the rows from 2 · `pageSize` on, whichever they are.
        case numbered
        /// A page is identified by its first row: rows inserted or deleted before it don't move it.
        case anchored
        /// The next page is appended to the rows that are shown: one list that grows while the user scrolls.
        case scrolling
    }

    private var state = ListState<Entity>()
    /// How many rows a page has.
    public let pageSize: Int
    /// The number of rows before the end of a scrolling list at which ``item(at:)`` begins to load more.
    public let prefetchThreshold: Int
    /// Whether pages replace one another or are appended.
    public let style: Style
    /// How many rows the query finds.
    public private(set) var totalCount = 0
    /// The index of the page's first row among all rows.
    public private(set) var offset = 0
    /// The turns that haven't ended, and the last of them: each begins when the one before has ended.
    @ObservationIgnored private var turnCount = 0
    @ObservationIgnored private var lastTurn: Task<Void, Never>?

    package init(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, pageSize: Int, prefetchThreshold: Int,
        style: Style, start: SubscriptionStart
    ) {
        // No table has more rows, and sums of these don't overflow.
        self.pageSize = min(max(1, pageSize), RowRequest.unreachableCount)
        self.prefetchThreshold = min(max(0, prefetchThreshold), RowRequest.unreachableCount)
        self.style = style
        super.init(engine)
        var rows = request.rows
        if pageSize <= 0 || rows.limit != nil || rows.offset != 0 {
            rows.invalid = StorageError(
                .invalidArgument, "A paginated query has pages of one row or more, and no limit and offset of its own.",
                remedy: "Leave limit and offset out of the query.")
        }
        rows.limit = self.pageSize
        rows.offset = 0
        let margin = self.pageSize + self.prefetchThreshold
        let spec = ListSpec(
            RowForm(Entity.self), rows, counts: true, margin: margin, isAnchored: style == .anchored, isPage: true)
        followList(start, spec, including: request.inclusions) { [weak self] in self?.take($0) }
    }

    private func take(_ update: ListUpdate<Entity>) {
        guard state.take(update) else { return readAgain() }
        took(update.error, at: update.position)
        guard update.error == nil else { return }
        totalCount = update.total ?? totalCount
        offset = update.offset
    }

    override func ended() {
        super.ended()
        state.end()
    }

    // MARK: The page

    /// The page's rows; in the scrolling style, all loaded rows.
    public var currentPage: [Entity] { state.value }
    /// How many pages there are.
    public var totalPages: Int { (totalCount + pageSize - 1) / pageSize }
    /// The number of the page, starting at 0; in the scrolling style, the number of the last loaded page.
    public var currentPageIndex: Int { (offset + max(state.value.count, 1) - 1) / pageSize }
    /// Whether rows follow after the page.
    public var hasNextPage: Bool { offset + state.value.count < totalCount }
    /// Whether rows precede the page; false in the scrolling style.
    public var hasPreviousPage: Bool { style != .scrolling && offset > 0 }

    /// The page now, and after each change.
    public var snapshots: SubscriptionSequence<[Entity]> {
        state.readSnapshots(of: self, at: position, isLoaded: refreshCount > 0)
            .repeated { self.snapshots }
    }

    /// The page now, and then the difference from each state to the next. Another page is sent as a whole.
    public var differences: SubscriptionSequence<ListDifference<Entity>> {
        state.readDifferences(of: self, at: position, isLoaded: refreshCount > 0)
            .repeated { self.differences }
    }

    /// Returns a row of the page by its index; nil beyond it. Near the end of a scrolling list it loads more rows.
    ///
    /// ```swift
    /// if let user = pages.item(at: 0) { print(user.name) }
    /// ```
    public func item(at index: Int) -> Entity? {
        guard state.value.indices.contains(index) else { return nil }
        if style == .scrolling, index >= state.value.count - prefetchThreshold, hasNextPage, turnCount == 0 {
            _ = turn { $0.nextPage }
        }
        return state.value[index]
    }

    // MARK: Turning pages

    /// Turns to the next page, if there is one; in the scrolling style, adds it. Waits for the first value, and for
    /// earlier turns.
    public func goToNextPage() async { await turn { $0.nextPage }.value }

    /// Turns to the page before, if there is one. Waits for the first value, and for earlier turns.
    ///
    /// ```swift
    /// if pages.hasPreviousPage { await pages.goToPreviousPage() }
    /// ```
    public func goToPreviousPage() async {
        await turn { $0.hasPreviousPage ? Window(offset: max(0, $0.offset - $0.pageSize), length: $0.pageSize) : nil }
            .value
    }

    /// Turns to a page by its number, starting at 0; if there is no such page, to the first or the last one. In the
    /// scrolling style, loads the pages up to it. Waits for the first value, and for earlier turns.
    ///
    /// ```swift
    /// await pages.goToPage(pages.totalPages - 1)
    /// ```
    public func goToPage(_ index: Int) async { await turn { $0.page(index) }.value }

    /// Rows by their indices among all rows.
    private struct Window {
        let offset: Int
        let length: Int
    }

    private var nextPage: Window? {
        guard hasNextPage else { return nil }
        return style == .scrolling
            ? Window(offset: 0, length: state.value.count + pageSize)
            : Window(offset: offset + pageSize, length: pageSize)
    }

    private func page(_ index: Int) -> Window {
        let index = max(0, min(index, totalPages - 1))
        return style == .scrolling
            ? Window(offset: 0, length: (index + 1) * pageSize) : Window(offset: index * pageSize, length: pageSize)
    }

    /// Turns pages after the turns before: a page follows the one that they have led to.
    private func turn(
        to window: @escaping @MainActor (PaginatedQuerySubscription) -> Window?
    ) -> Task<Void, Never> {
        let earlier = lastTurn
        turnCount += 1
        let turn = Task {
            await earlier?.value
            await waitForFirstValue()
            if let window = window(self) { await show(window) }
            turnCount -= 1
        }
        lastTurn = turn
        return turn
    }

    private func show(_ window: Window) async {
        guard let handle, isActive else { return }
        isLoading = true
        defer { isLoading = false }
        do {
            try await engine.move(handle, offset: window.offset, limit: window.length)
            engine.deliveryQueue.drain()
        } catch {
            self.error = error.forSubscribers
        }
    }
}
