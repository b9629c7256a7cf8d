#if STORAGE_HTTP
    public import StorageSync

    /// Why a remote's rows didn't come.
    ///
    /// Those who show a source find it as the `cause` of a `StorageError` with `remote-failed`:
    ///
    /// ```swift
    /// if let error = results.error?.cause as? HTTPRemoteError, error.status == 401 { await signIn() }
    /// ```
    ///
    /// Its text names the URL without user, password, query and fragment, and nothing that a body or a header field said.
    public struct HTTPRemoteError: RetryableError, CustomStringConvertible {
        /// The kind of failure. An open set: compare with `==`, don't switch exhaustively.
        public struct Code: Hashable, Sendable, CustomStringConvertible {
            public let description: String
            public init(_ description: String) { self.description = description }

            /// The server answered with a status that has no rows.
            public static let status = Code("status")
            /// No connection came about: the name isn't known, nobody listens there, or TLS failed.
            public static let connectionFailed = Code("connection-failed")
            /// The server's certificate isn't one that the client trusts, or isn't one of that host.
            public static let untrusted = Code("untrusted")
            /// The connection ended before the answer did.
            public static let cutOff = Code("cut-off")
            /// Connecting, or the whole request, took longer than it may.
            public static let timedOut = Code("timed-out")
            /// The body is longer than ``HTTPRemote/maximumBytes``.
            public static let tooLarge = Code("too-large")
            /// The answer isn't HTTP, or its body isn't what was to be decoded.
            public static let undecodable = Code("undecodable")
            /// The link to the next page can't be read, or isn't to be followed.
            public static let badLink = Code("bad-link")
            /// The server redirects to what isn't to be followed, or too often.
            public static let badRedirect = Code("bad-redirect")
            /// The request can't be sent: its URL or one of its header fields isn't valid.
            public static let invalidRequest = Code("invalid-request")
        }

        public let code: Code
        /// What happened, in one sentence.
        public let message: String
        /// What to do about it, in one sentence.
        public let remedy: String
        /// The status that was answered; nil where there was none, or where it wasn't what went wrong.
        public let status: Int?
        /// How long the server wants to be left alone, a year at most; nil where it doesn't say.
        public let retryAfter: Duration?
        /// The error of the connection that caused this one.
        public let cause: (any Error)?

        /// Whether the server answers the same however often it is asked: a status from 400 to 499 without a `Retry-After`, other than
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
