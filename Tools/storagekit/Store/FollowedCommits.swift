import StorageKit

/// The commits of a store that a command follows while it is read.
enum FollowedCommits {
    /// Yields when something may have been committed; compare the head.
    ///
    /// - Parameter start: Starts checking when to stop, and returns what ends the check; nil to follow until the stream is cancelled.
    static func stream(
        of storage: Storage,
        until start: ((_ end: @escaping @Sendable () -> Void) -> Task<Void, any Error>)? = nil
    ) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let observation = storage.engine.onCommit { continuation.yield() }
        let deadline = start?({ continuation.finish() })
        continuation.onTermination = { _ in
            observation.cancel()
            deadline?.cancel()
        }
        return stream
    }
}
