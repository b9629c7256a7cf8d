#if STORAGE_HTTP
    /// What was decoded from one answer: rows, and where the next page is.
    public struct HTTPPage<Element: Sendable>: Sendable {
        /// The page's rows, in any order.
        public let rows: [Element]
        /// Where the next page is: a URL, or a reference relative to this page's, such as `?after=17`. Nil where only a
        /// `Link` header field can say it; without one the page is the last.
        public let next: String?

        /// - Parameters:
        ///   - rows: See ``rows``.
        ///   - next: See ``next``. It has to lead to the remote's own scheme, host and port.
        public init(_ rows: [Element], next: String? = nil) {
            self.rows = rows
            self.next = next
        }
    }
#endif
