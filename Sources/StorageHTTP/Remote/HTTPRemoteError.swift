#if STORAGE_HTTP
    public import StorageSync

    /// Why a remote's rows couldn't be fetched.
    ///
    /// Users of a source find it as the `cause` of a `StorageError` with `remote-failed`:
    ///
    /// ```swift
    /// if let error = results.error?.cause as? HTTPRemoteError, error.status == 401 { await signIn() }
    /// ```
    ///
    /// Its text contains the URL without user, password, query and fragment, and nothing from a body or a header field.
    public struct HTTPRemoteError: RetryableError, CustomStringConvertible {
        /// The kind of failure. An open set: compare with `==`, don't switch exhaustively.
        public struct Code: Hashable, Sendable, CustomStringConvertible {
            public let description: String
            /// Creates a code from its name.
            public init(_ description: String) { self.description = description }

            /// The server answered with a status that has no rows.
            public static let status = Code("status")
            /// No connection could be established: the name is unknown, the port is closed, or TLS failed.
            public static let connectionFailed = Code("connection-failed")
            /// The server's certificate isn't trusted by the client, or belongs to another host.
            public static let untrusted = Code("untrusted")
            /// The connection ended before the answer was complete.
            public static let cutOff = Code("cut-off")
            /// Connecting, the whole request, or the closure that returns credentials exceeded its time limit.
            public static let timedOut = Code("timed-out")
            /// The body is longer than ``HTTPRemote/maximumBytes``.
            public static let tooLarge = Code("too-large")
            /// The answer isn't HTTP, or its body couldn't be decoded.
            public static let undecodable = Code("undecodable")
            /// The link to the next page is invalid, or must not be followed.
            public static let badLink = Code("bad-link")
            /// A redirect must not be followed, or there were too many.
            public static let badRedirect = Code("bad-redirect")
            /// The request can't be sent: its URL or one of its header fields is invalid.
            public static let invalidRequest = Code("invalid-request")
        }

        /// The kind of failure.
        public let code: Code
        /// What happened, in one sentence.
        public let message: String
        /// What to do about it, in one sentence.
        public let remedy: String
        /// The answer's status; nil if there was no answer, or its status wasn't the problem.
        public let status: Int?
        /// The delay that the server requests, at most a year; nil if there is none.
        public let retryAfter: Duration?
        /// The underlying error of the connection.
        public let cause: (any Error)?

        /// Whether repeating the request is pointless: a status from 400 to 499 without a `Retry-After`, other than
        /// 408, 421, 425 and 429; a request that can't be sent; a body that is too large.
        public var isRefusal: Bool {
            switch code {
            case .invalidRequest, .tooLarge: return true
            case .status:
                guard let status, retryAfter == nil, (400..<500).contains(status) else { return false }
                return ![408, 421, 425, 429].contains(status)
            default: return false
            }
        }

        public var description: String { "\(message) \(remedy)" }

        init(
            _ code: Code, _ message: String, remedy: String, status: Int? = nil, retryAfter: Duration? = nil,
            cause: (any Error)? = nil
        ) {
            self.code = code
            self.message = message
            self.remedy = remedy
            self.status = status
            self.retryAfter = retryAfter
            self.cause = cause
        }
    }
#endif
