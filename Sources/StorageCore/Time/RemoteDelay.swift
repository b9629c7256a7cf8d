/// The delay before contacting a remote again after a failure: the time that it has asked for, plus a random part of 2, 4, 8, 16,
/// 32, and then 60 seconds, so that many clients that failed together don't return together.
///
/// Plus, because all clients that it has asked for the same delay would otherwise return at once.
///
/// Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015 ("full jitter").
package struct RemoteDelay: Sendable, Equatable {
    /// The delay that the remote has asked for, in microseconds.
    package let askedMicroseconds: Int64
    /// The random part, in microseconds.
    package let randomMicroseconds: Int64

    /// The maximum of the random part.
    package static var longestRandomMicroseconds: Int64 { 60_000_000 }

    /// - Parameters:
    ///   - failures: The number of consecutive failures; at least one.
    ///   - asked: The delay that the remote asks for, in microseconds; nil if it doesn't.
    ///   - longest: The maximum that the remote can ask for.
    package init(
        after failures: Int, remoteAsksFor asked: Int64?, longest: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        let ceiling = min(Self.longestRandomMicroseconds, 2_000_000 << min(max(failures, 1) - 1, 5))
        randomMicroseconds = .random(in: 0...ceiling, using: &generator)
        askedMicroseconds = min(max(0, asked ?? 0), longest)
    }

    package var microseconds: Int64 { askedMicroseconds + randomMicroseconds }
}
