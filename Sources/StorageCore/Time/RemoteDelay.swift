/// How long a remote is left alone after a failure: for as long as it has asked for, and on top of that for a random part of 2, 4, 8,
/// 16, 32, and then 60 seconds, so that many clients that failed together don't come back together.
///
/// On top, because all whom it has asked for the same would come back at once.
///
/// Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015 ("full jitter").
package struct RemoteDelay: Sendable, Equatable {
    /// What the remote has asked for, in microseconds.
    package let askedMicroseconds: Int64
    /// The random part, in microseconds.
    package let randomMicroseconds: Int64

    /// The most that the random part can be.
    package static var longestRandomMicroseconds: Int64 { 60_000_000 }

    /// - Parameters:
    ///   - failures: How many there were one after another; at least one.
    ///   - asked: What the remote asks for, in microseconds; nil where it doesn't say.
    ///   - longest: The most that it can ask for.
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
