public import StorageEntities

/// How a source's rows are fetched from a remote, and merged into the store.
public struct QueryRefreshAction<Element: RegisteredEntity>: Sendable {
    /// How fetched rows are merged.
    public let merge: QueryMergeStrategy<Element>
    /// Requests a page from the remote.
    ///
    /// - Throws: Any error, which becomes the source's error; a ``RetryableError`` may request a delay.
    public let fetch: @Sendable (QueryFetch) async throws -> QueryFetchAnswer<Element>

    /// Creates an action that fetches page by page: each page is a commit, and rows that the remote no longer has are
    /// deleted with the last one.
    ///
    /// ```swift
    /// QueryRefreshAction(merge: .replace) { fetch in
    ///     let page = try await api.tasks(after: fetch.cursor)
    ///     return .rows(page.tasks, next: page.cursor)
    /// }
    /// ```
    public init(
        merge: QueryMergeStrategy<Element> = .replace,
        fetch: @escaping @Sendable (QueryFetch) async throws -> QueryFetchAnswer<Element>
    ) {
        self.merge = merge
        self.fetch = fetch
    }

    /// Returns an action that fetches all rows at once.
    public static func fromAPI(
        fetch: @escaping @Sendable () async throws -> [Element], merge: QueryMergeStrategy<Element> = .replace
    ) -> QueryRefreshAction {
        QueryRefreshAction(merge: merge) { _ in .rows(try await fetch()) }
    }
}
