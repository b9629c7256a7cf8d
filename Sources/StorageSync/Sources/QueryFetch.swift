/// A request to a source's remote.
public struct QueryFetch: Sendable, Hashable {
    /// The cursor of the page, which is the `next` of the previous page; nil for the first page.
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
    /// The rows of a page. `next` is the cursor of the next page; nil if this is the last one. The `validator` of the
    /// first page is passed to the next refresh; it must cover all pages, because ``notModified`` refers to all of
    /// them.
    case rows([Element], next: String? = nil, validator: String? = nil)
    /// Nothing has changed since the answer that the request's validator identifies.
    case notModified
}
