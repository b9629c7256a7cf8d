public import Foundation
public import Observation
public import StorageCore
public import StorageEntities
internal import StorageLog
internal import StorageRecords
public import StorageRouting

/// The results of a search, live: as the text is typed, and as rows change.
///
/// ```swift
/// let search = SearchSubscription(storage.query(Article.self), configuration: .fullText())
/// search.searchText = "swift concur"
/// for await results in search.snapshots { … }
/// ```
///
/// A search is run when the text hasn't changed for ``Configuration/debounceInterval``; the last text is always searched
/// for in the end. Recent texts stay live, so going back to one of them shows its results at once.
///
/// A changed row finds the affected full-text searches by its words, and only those that it matches or matched run
/// again: a thousand others cost nothing. If a text has changed, all searches in FTS5's own syntax run again. A search
/// in fields uses no index and follows changes like a ``QuerySubscription``; its first results cost a scan of all rows.
@MainActor @Observable
public final class SearchSubscription<Entity: RegisteredEntity>: StorageSubscription {
    /// The configuration of a ``SearchSubscription``.
    public struct Configuration: Sendable {
        /// The columns to search; empty to use the entity's full-text index.
        public var searchFields: [String]
        /// How long the text must be unchanged, in seconds, before it is searched for.
        public var debounceInterval: TimeInterval
        /// Shorter texts find nothing.
        public var minSearchLength: Int
        /// The maximum number of results.
        public var maxResults: Int
        /// Whether case matters. If not, the letters A to Z are case-insensitive; a full-text index has its own rules.
        public var caseSensitive: Bool
        /// Whether a column's whole value must be the text.
        public var exactMatch: Bool
        /// Whether results include a text in which the matches are marked.
        public var highlightMatches: Bool
        /// The number of recent texts that stay live.
        public var cachedSearches: Int
        /// The weights of columns in the ranking of a full-text search, by column name.
        public var weights: [String: Double] = [:]
        /// How a full-text search interprets the text.
        public var syntax: SearchSyntax = .simple

        /// A search in columns, for words anywhere in them.
        public init(
            searchFields: [String], debounceInterval: TimeInterval = 0.3, minSearchLength: Int = 2,
            maxResults: Int = 100, caseSensitive: Bool = false, exactMatch: Bool = false,
            highlightMatches: Bool = false, cachedSearches: Int = 8
        ) {
            self.searchFields = searchFields
            self.debounceInterval = debounceInterval
            self.minSearchLength = minSearchLength
            self.maxResults = maxResults
            self.caseSensitive = caseSensitive
            self.exactMatch = exactMatch
            self.highlightMatches = highlightMatches
            self.cachedSearches = cachedSearches
        }

        /// A search in the entity's full-text index, best results first.
        public static func fullText(
            debounceInterval: TimeInterval = 0.3, minSearchLength: Int = 2, maxResults: Int = 100,
            highlightMatches: Bool = false, weights: [String: Double] = [:], syntax: SearchSyntax = .simple,
            cachedSearches: Int = 8
        ) -> Configuration {
            var configuration = Configuration(
                searchFields: [], debounceInterval: debounceInterval, minSearchLength: minSearchLength,
                maxResults: maxResults, highlightMatches: highlightMatches, cachedSearches: cachedSearches)
            configuration.weights = weights
            configuration.syntax = syntax
            return configuration
        }
    }

    /// One text that was searched for, and its results.
    private final class Found {
        var handle: LiveHandle?
        var results: [SearchResult<Entity>] = []
        var total = 0
        var duration: TimeInterval = 0
        var position: Int64 = 0
        var error: StorageError?
        var isLoaded = false
        var started = ContinuousClock.now
    }

    /// The configuration of the search.
    public let configuration: Configuration
    /// By its bytes, as the store compares texts.
    private var text = ExactText("")
    private var state = ListState<SearchResult<Entity>>()
    /// Whether the results of the text are being loaded.
    public private(set) var isSearching = false
    /// The number of matching rows, including those beyond `maxResults`.
    public private(set) var resultCount = 0
    /// How long the search took, in seconds.
    public private(set) var searchDuration: TimeInterval = 0
    private var hasSearched = false

    @ObservationIgnored private let request: RowRequest
    @ObservationIgnored private let indexes: SearchIndexes
    @ObservationIgnored private var cache: [(text: ExactText, found: Found)] = []
    @ObservationIgnored private var waiting: Task<Void, Never>?
    @ObservationIgnored private var retries = RetryDelay()
    /// Without a text there is no node that would end when the store is closed.
    @ObservationIgnored private var ending: StorageObservation?

    package init(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, indexes: SearchIndexes,
        configuration: Configuration
    ) {
        self.request = request.withoutInclusions
        self.indexes = indexes
        self.configuration = configuration
        super.init(engine)
        isLoading = false
        ending = engine.onClose { [weak self] in Task { @MainActor in self?.ended() } }
    }

    // MARK: What was found

    /// The text to search for.
    public var searchText: String {
        get { text.text }
        set {
            let newText = ExactText(newValue)
            guard newText != text else { return }
            text = newText
            schedule()
        }
    }

    /// The matching rows, at most `maxResults`. During a search, still those of the previous text.
    public var results: [Entity] { state.value.map(\.entity) }
    /// The rows with their ranks, and with marked texts if configured.
    public var hits: [SearchResult<Entity>] { state.value }
    /// Whether a search is done and has found nothing.
    public var hasNoResults: Bool { hasSearched && !isSearching && resultCount == 0 }

    /// The results, for each text and after each change.
    public var snapshots: SubscriptionSequence<[Entity]> {
        state.readSnapshots(of: self, at: position, isLoaded: hasSearched).map { $0.map(\.entity) }
            .repeated { self.snapshots }
    }

    /// The results, and then the difference from each state to the next. Another text's results are sent as a whole.
    public var differences: SubscriptionSequence<ListDifference<SearchResult<Entity>>> {
        state.readDifferences(of: self, at: position, isLoaded: hasSearched)
            .repeated { self.differences }
    }

    /// Empties the text and the results.
    ///
    /// ```swift
    /// search.clearSearch()
    /// ```
    public func clearSearch() { searchText = "" }

    override public func refresh() async {
        cache.removeAll()
        waiting?.cancel()
        retries = RetryDelay()
        // In a task of its own: the view needs the results, whether the caller still waits for them or not.
        await Task { await search(text) }.value
    }

    override public func explain() async -> SubscriptionExplanation? {
        guard let handle = cache.first(where: { $0.text == text })?.found.handle else { return nil }
        return try? await engine.explain(handle)
    }

    override func ended() {
        super.ended()
        waiting?.cancel()
        cache.removeAll()
        isSearching = false
        state.end()
    }

    // MARK: Searching

    private var isLongEnough: Bool { text.text.count >= max(1, configuration.minSearchLength) }

    private func schedule() {
        waiting?.cancel()
        retries = RetryDelay()
        guard isActive else { return }
        guard isLongEnough else { return show(nil) }
        let text = text
        if let known = cache.first(where: { $0.text == text })?.found, known.isLoaded { return show(known) }
        isSearching = true
        searchLater(text, after: configuration.debounceInterval)
    }

    private func searchLater(_ text: ExactText, after seconds: TimeInterval) {
        waiting = Task { [weak self] in
            guard (try? await Task.sleep(for: .limited(seconds: seconds))) != nil else { return }
            await self?.search(text)
        }
    }

    private func search(_ text: ExactText) async {
        guard isActive, isLongEnough, text == self.text else { return }
        isSearching = true
        let found = Found()
        keep(found, for: text)
        let pendingUpdate = pendingUpdate { [weak self, weak found] (update: ListUpdate<SearchResult<Entity>>) in
            guard let self, let found, isKept(found) else { return }
            take(update, of: text, found)
        }
        let (request, indexes, configuration) = (request, indexes, configuration)
        do {
            let handle = try await Self.open(
                text.text, in: request, indexes: indexes, configuration: configuration, for: pendingUpdate, on: engine)
            found.handle = handle
            engine.deliveryQueue.drain()
        } catch {
            guard isKept(found) else { return }
            cache.removeAll { $0.found === found }
            // Another search follows, of a later text.
            if error is CancellationError { return }
            failed(error.forSubscribers, text)
        }
    }

    /// A first search that fails is tried again, unless it is the text that is wrong.
    private func failed(_ error: StorageError, _ text: ExactText) {
        guard text == self.text else { return }
        show(nil)
        self.error = error
        if error.code == .closed { return ended() }
        if !error.isFinal { searchLater(text, after: retries.next()) }
    }

    /// Whether a search hasn't been replaced by another one meanwhile.
    private func isKept(_ found: Found) -> Bool { cache.contains { $0.found === found } }

    private nonisolated static func open(
        _ text: String, in request: RowRequest, indexes: SearchIndexes, configuration: Configuration,
        for pendingUpdate: PendingUpdate<ListUpdate<SearchResult<Entity>>>, on engine: SubscriptionEngine
    ) async throws -> LiveHandle {
        guard configuration.searchFields.isEmpty else {
            let node = { @Sendable in try configuration.fieldNode(text, in: request) }
            return try await engine.addReadingBeside(node, pendingUpdate)
        }
        let node = { @Sendable in try configuration.fullTextNode(text, in: request, indexes: indexes) }
        return try await engine.addReadingBeside(node, pendingUpdate)
    }

    private func keep(_ found: Found, for text: ExactText) {
        cache.removeAll { $0.text == text }
        cache.append((text, found))
        let excess = cache.count - max(1, configuration.cachedSearches)
        if excess > 0 { cache.removeFirst(excess) }
    }

    private func take(_ update: ListUpdate<SearchResult<Entity>>, of text: ExactText, _ found: Found) {
        found.error = update.error
        let isCurrent = text == self.text
        guard update.error == nil else {
            if isCurrent { took(update.error, at: position) }
            return
        }
        guard update.fits(found.results) else { return readAgain() }
        if !found.isLoaded { found.duration = (ContinuousClock.now - found.started) / .seconds(1) }
        let isFirst = !found.isLoaded
        found.isLoaded = true
        found.total = update.total ?? 0
        found.position = update.position
        update.apply(to: &found.results)
        guard isCurrent else { return }
        if isFirst { return show(found) }
        guard state.take(update) else { return readAgain() }
        publish(found)
    }

    /// Shows what a text finds; nothing where the text is too short.
    private func show(_ found: Found?) {
        var whole = ListUpdate<SearchResult<Entity>>()
        whole.whole = found?.results ?? []
        whole.position = found?.position ?? position
        _ = state.take(whole)
        hasSearched = found != nil
        if let found { keep(found, for: text) }
        publish(found)
    }

    private func publish(_ found: Found?) {
        isSearching = false
        resultCount = found?.total ?? 0
        searchDuration = found?.duration ?? 0
        took(found?.error, at: found?.position ?? position)
    }
}

extension SearchSubscription.Configuration {
    /// Searches for a text in columns.
    func fieldNode(_ text: String, in request: RowRequest) throws -> ListNode<SearchResult<Entity>> {
        if let invalid = request.invalid { throw invalid }
        let sought = FieldWords(
            text: text, fields: searchFields, isCaseSensitive: caseSensitive, isExact: exactMatch)
        let search = FieldSearch<Entity>(
            sought: sought, condition: request.predicate, relations: request.relations, orderings: request.orderings,
            limit: maxResults,
            marks: highlightMatches ? ("<b>", "</b>") : nil)
        return ListNode(try search.spec())
    }

    /// Searches for a text in the full-text index.
    func fullTextNode(_ text: String, in request: RowRequest, indexes: SearchIndexes) throws -> FullTextNode<Entity> {
        if let invalid = request.invalid { throw invalid }
        return FullTextNode(
            try Search<Entity>(
                indexes: indexes, query: text, limit: maxResults, syntax: syntax, weights: weights,
                excerpt: highlightMatches ? .snippet() : nil, condition: request.predicate,
                relations: request.relations))
    }
}
