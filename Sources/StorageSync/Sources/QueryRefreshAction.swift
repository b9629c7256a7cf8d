public import StorageEntities

/// How a source's rows are fetched from a remote, and merged into the store.
public struct QueryRefreshAction<Element: RegisteredEntity>: Sendable {
    /// How fetched rows are merged.
    public let merge: QueryMergeStrategy<Element>
    /// Requests a page from the remote.
    ///
    /// - Throws: Any error, which becomes the source's; a ``RetryableError`` may request a delay.
    public let fetch: @Sendable (QueryFetch) async throws -> QueryFetchAnswer<Element>

    /// Fetches page by page: each page is a commit, and rows that the remote no longer has are deleted with the last.
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

/// A request to a source's remote.
public struct QueryFetch: Sendable, Hashable {
    /// The beginning of the page: the `next` of the previous page; nil for the first one.
    public let cursor: String?
    /// The validator of the last complete answer, such as an ETag, if the store still contains that answer; nil
    /// otherwise, and for all pages but the first.
    public let validator: String?

    /// Creates a request, for example in a test.
    public init(cursor: String? = nil, validator: String? = nil) {
        self.cursor = cursor
        self.validator = validator
    }
}

/// A remote's answer to a ``QueryFetch``.
public enum QueryFetchAnswer<Element: Sendable>: Sendable {
    /// Rows. `next` is the beginning of the next page, nil if this is the last one. A `validator` of the first page is
    /// passed to the next refresh; it must cover all pages, because ``notModified`` refers to all of them.
    case rows([Element], next: String? = nil, validator: String? = nil)
    /// Nothing has changed since the answer with the validator.
    case notModified
}

/// An error of a remote that says when a retry makes sense, as HTTP does with its status codes and `Retry-After`.
///
/// ```swift
/// struct Busy: RetryableError {
///     var retryAfter: Duration? { .seconds(30) }
/// }
/// ```
public protocol RetryableError: Error {
    /// The minimum delay before the next request; nil if the remote doesn't specify one.
    var retryAfter: Duration? { get }
    /// Whether repeating the request is pointless until something else changes: the credentials, the address, the
    /// program. The source isn't fetched automatically then; see ``QuerySourceStatus/isRefused``. False by default.
    var isRefusal: Bool { get }
}

extension RetryableError {
    /// False: the remote may answer differently the next time.
    public var isRefusal: Bool { false }
}
