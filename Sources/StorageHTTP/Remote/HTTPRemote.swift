#if STORAGE_HTTP
    public import Foundation

    /// A URL that returns a query source's rows as JSON.
    ///
    /// ```swift
    /// var tasks = HTTPRemote("https://api.example.com/tasks", headers: ["Authorization": "Bearer \(token)"])
    /// let source = QuerySource(Task.all()).remote(tasks).cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
    /// ```
    ///
    /// Fetching works as follows:
    ///
    /// - Requests use `GET`. An answer with status 200 or 203 contains rows; any other throws an ``HTTPRemoteError``.
    /// - If the last answer had an `ETag` or a `Last-Modified`, the request has `If-None-Match` or `If-Modified-Since`,
    ///   and 304 means that nothing has changed. An answer of several pages, or one after a redirect, is always
    ///   requested in full: its validator would cover only a part of it.
    /// - Further pages come from the URL in `Link: <…>; rel="next"` (RFC 8288), each in a commit of its own.
    /// - At most five redirects are followed, none from https to http. Except for `Accept`, your headers aren't sent to
    ///   another scheme, host or port; once dropped, they aren't added again. A next page at another scheme, host or
    ///   port is refused.
    /// - Bodies are transferred uncompressed (`Accept-Encoding: identity`), so that limits apply to the transferred
    ///   bytes.
    ///
    /// Requests aren't retried: the source does that, with back-off and respecting `Retry-After`. Errors never quote
    /// bodies or header fields. Cancelling the task cancels the request.
    ///
    /// A body with neither `Content-Length` nor chunked encoding ends with the connection. HTTP can't detect whether it
    /// was truncated; truncated JSON can't be decoded.
    public struct HTTPRemote: Sendable {
        /// An absolute http or https URL without user and password. It is validated when it is fetched.
        public var url: String
        /// The header fields for requests to the URL's scheme, host and port. `Accept` is `application/json` by
        /// default. `Accept-Encoding`, `If-None-Match` and `If-Modified-Since` are set by the remote. Names are
        /// case-insensitive.
        public var headers: [String: String]
        /// The time limit for one page, from the beginning of the request to the last byte, including redirects. 30
        /// seconds by default.
        public var timeout: Duration
        /// The maximum size of a page's body, in bytes; 16 MiB by default. A longer one isn't read to its end, and one
        /// with a larger `Content-Length` isn't read at all.
        public var maximumBytes: Int
        /// Creates the decoder of a page, for example one for ISO 8601 dates.
        ///
        /// ```swift
        /// tasks.makeDecoder = {
        ///     let decoder = JSONDecoder()
        ///     decoder.dateDecodingStrategy = .iso8601
        ///     return decoder
        /// }
        /// ```
        public var makeDecoder: @Sendable () -> JSONDecoder
        /// The connections and their timeout.
        public var client: HTTPRemoteClient

        /// Creates a remote.
        ///
        /// - Parameters:
        ///   - url: See ``url``.
        ///   - headers: See ``headers``.
        ///   - timeout: The time limit for a whole page; see ``timeout``.
        ///   - maximumBytes: The maximum size of a page's body; see ``maximumBytes``.
        ///   - client: Connections of your own; shared ones by default.
        ///   - makeDecoder: A plain `JSONDecoder()` by default.
        public init(
            _ url: String, headers: [String: String] = [:], timeout: Duration = .seconds(30),
            maximumBytes: Int = 16 << 20,
            client: HTTPRemoteClient = .shared, makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
        ) {
            self.url = url
            self.headers = headers
            self.timeout = timeout
            self.maximumBytes = maximumBytes
            self.client = client
            self.makeDecoder = makeDecoder
        }
    }
#endif
