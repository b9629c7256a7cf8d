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
    /// Whether repeating the request is pointless until something else changes: the credentials, the address or the
    /// program. If true, the source isn't fetched automatically; see ``QuerySourceStatus/isRefused``. False by default.
    var isRefusal: Bool { get }
}

extension RetryableError {
    /// False: the remote may answer differently the next time.
    public var isRefusal: Bool { false }
}
