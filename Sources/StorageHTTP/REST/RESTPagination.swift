#if STORAGE_HTTP
    /// How the pages of a collection lead to one another. Pages are fetched one after another, at most 10,000 of them.
    public enum RESTPagination: Sendable, Hashable {
        /// `Link: <…>; rel="next"` (RFC 8288). Without it a page is the last.
        case link
        /// A field of the page holds what the next one is asked for by, in a parameter of the URL. The last page has none, or null, or
        /// an empty text.
        case cursor(field: String, parameter: String)
        /// A field of the page holds the URL of the next one, absolute or relative to the page's.
        case url(field: String)
        /// There is one page.
        case none
    }
#endif
