#if STORAGE_HTTP
    /// How the pages of a collection refer to one another. Pages are fetched one after another, at most 10,000 of them.
    ///
    /// ```swift
    /// rest.pagination = .cursor(field: "next", parameter: "after")
    /// ```
    public enum RESTPagination: Sendable, Hashable {
        /// `Link: <…>; rel="next"` (RFC 8288). A page without it is the last.
        case link
        /// A field of the page contains the cursor of the next page, which is passed in a parameter of the URL. In the
        /// last page it is missing, null or empty.
        case cursor(field: String, parameter: String)
        /// A field of the page contains the URL of the next one, absolute or relative to the page's.
        case url(field: String)
        /// There is only one page.
        case none
    }
#endif
