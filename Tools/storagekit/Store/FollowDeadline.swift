/// Determines when a command that follows a store must stop.
enum FollowDeadline {
    /// Calls `end` when the time is over, the output has no reader any more, or the file is gone.
    ///
    /// - Parameter seconds: Nil for no time limit.
    static func start(for seconds: Double?, on file: FollowedFile, _ end: @escaping @Sendable () -> Void) -> Task<
        Void, any Error
    > {
        let deadline = seconds.map { ContinuousClock.now + .seconds($0) }
        return Task {
            while !StandardOutput.isReaderGone, file.isThere {
                let left = deadline.map { $0 - ContinuousClock.now } ?? .seconds(1)
                guard left > .zero else { break }
                try await Task.sleep(for: min(left, .milliseconds(50)))
            }
            end()
        }
    }
}
