public import StorageEntities

/// How a source's rows are fetched from a remote, and merged into the store.
public struct QueryRefreshAction<Element: RegisteredEntity>: Sendable {
    /// What becomes of fetched rows.
    public let merge: QueryMergeStrategy<Element>
    /// Asks the remote for a page.
    public let fetch: @Sendable (QueryFetch) async throws -> QueryFetchAnswer<Element>

    /// Fetches page by page: each page is a commit, and what the remote doesn't have any more goes with the last.
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

    /// Fetches all rows at once.
    public static func fromAPI(
        fetch: @escaping @Sendable () async throws -> [Element], merge: QueryMergeStrategy<Element> = .replace
    ) -> QueryRefreshAction {
        QueryRefreshAction(merge: merge) { _ in .rows(try await fetch()) }
    }
}

/// What a remote is asked for.
public struct QueryFetch: Sendable, Hashable {
    /// Where the page begins: the `next` of the page before; nil for the first.
    public let cursor: String?
    /// What the last complete answer came with, such as an ETag, if the store still holds what that answer said; nil otherwise, and
    /// for all pages but the first.
    public let validator: String?

    public init(cursor: String? = nil, validator: String? = nil) {
        self.cursor = cursor
        self.validator = validator
    }
}

/// What a remote answers.
public enum QueryFetchAnswer<Element: Sendable>: Sendable {
    /// Rows; `next` is where the next page begins, nil where this is the last. A `validator` of the first page is given back with
    /// the next refresh; let it stand for all pages, because ``notModified`` means all of them.
    case rows([Element], next: String? = nil, validator: String? = nil)
    /// Nothing has changed since the answer that the validator came with.
    case notModified
}

/// An error of a remote that says when asking it again makes sense, as HTTP does with its statuses and `Retry-After`.
public protocol RetryableError: Error {
    /// How long to wait at least before the next request; nil where the remote doesn't say.
    var retryAfter: Duration? { get }
    /// Whether the remote answers the same however often it is asked, until something else changes: the credentials, the address, the
    /// program. The source isn't asked by itself any more then; see ``QuerySourceStatus/isRefused``. False unless given.
    var isRefusal: Bool { get }
}

extension RetryableError {
    public var isRefusal: Bool { false }
}
