#if STORAGE_HTTP
    /// The decoded content of one answer: rows, and the link to the next page.
    ///
    /// ```swift
    /// QuerySource(Task.all()).remote(HTTPRemote("https://api.example.com/tasks")) { body, decoder in
    ///     let envelope = try decoder.decode(Envelope.self, from: body)
    ///     return HTTPPage(envelope.items, next: envelope.next)
    /// }
    /// ```
    public struct HTTPPage<Element: Sendable>: Sendable {
        /// The page's rows, in any order.
        public let rows: [Element]
        /// The next page: a URL, or a reference relative to this page's, such as `?after=17`. If nil, a `Link` header
        /// field is used; without one, the page is the last.
        public let next: String?

        /// Creates a page.
        ///
        /// - Parameters:
        ///   - rows: See ``rows``.
        ///   - next: See ``next``. Must have the remote's own scheme, host and port.
        public init(_ rows: [Element], next: String? = nil) {
            self.rows = rows
            self.next = next
        }
    }
#endif
