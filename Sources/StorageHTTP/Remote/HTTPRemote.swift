#if STORAGE_HTTP
    public import Foundation

    /// A URL from which a query source's rows come as JSON.
    ///
    /// ```swift
    /// let tasks = HTTPRemote("https://api.example.com/tasks", headers: ["Authorization": "Bearer \(token)"])
    /// let source = QuerySource(Task.all()).remote(tasks).cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
    /// ```
    ///
    /// What a fetch does:
    ///
    /// - It asks with `GET`. A status of 200 or 203 has rows, every other one is an ``HTTPRemoteError``.
    /// - Where the last answer had an `ETag` or a `Last-Modified`, it asks with `If-None-Match` or `If-Modified-Since`, and
    ///   304 means that nothing has changed. An answer of several pages, or one that came by a redirect, is asked for in
    ///   full each time: its validator would speak for a part of it only.
    /// - More pages come from the URL in `Link: <…>; rel="next"` (RFC 8288), each a commit.
    /// - At most five redirects are followed, none from https to http. Your headers don't go to another scheme, host or
    ///   port, except `Accept`; neither do they come back once they were left behind. A next page elsewhere is refused.
    /// - Bodies come uncompressed (`Accept-Encoding: identity`), so what is counted is what arrives.
    ///
    /// Nothing is tried twice: the source asks again, later and later, and not before the server wants to be asked
    /// (`Retry-After`). What a body or a header says is in no error's text. Cancelling the task cancels the request.
    ///
    /// A body without a `Content-Length` that isn't chunked ends where the connection does. HTTP can't detect whether
    /// it was
    /// cut off; JSON that is cut off can't be decoded.
    public struct HTTPRemote: Sendable {
        /// An absolute URL with http or https, without a user and password. It is looked at when it is fetched.
        public var url: String
        /// What is sent with each request to the URL's scheme, host and port. `Accept` is `application/json` unless given.
        /// `Accept-Encoding`, `If-None-Match` and `If-Modified-Since` are the remote's own. Names in upper or lower case
        /// are the same.
        public var headers: [String: String]
        /// How long one page may take, from the beginning of the request to the last byte, redirects included. 30 seconds
        /// unless set.
        public var timeout: Duration
        /// How long a page's body may be, in bytes; 16 MiB unless set. A longer one isn't read to its end, and one that
        /// says so in its `Content-Length` isn't begun.
        public var maximumBytes: Int
        /// Makes the decoder of a page; one for dates as ISO 8601, for example.
        ///
        /// ```swift
        /// tasks.makeDecoder = {
        ///     let decoder = JSONDecoder()
        ///     decoder.dateDecodingStrategy = .iso8601
        ///     return decoder
        /// }
        /// ```
        public var makeDecoder: @Sendable () -> JSONDecoder
        /// The connections, and how long one may take to be made.
        public var client: HTTPRemoteClient

        /// - Parameters:
        ///   - url: See ``url``.
        ///   - headers: See ``headers``.
        ///   - timeout: For a whole page; see ``timeout``.
        ///   - maximumBytes: Of one page's body; see ``maximumBytes``.
        ///   - client: Connections of your own; those of the program unless given.
        ///   - makeDecoder: A `JSONDecoder()` as it is, unless given.
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
