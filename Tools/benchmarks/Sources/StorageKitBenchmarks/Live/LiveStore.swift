/// A store that is written to while views follow it.
protocol LiveStore: Sendable {
    func write(_ commit: LiveCommit) async throws
    /// Follows questions until what is returned is released; each value is noted.
    @MainActor func follow(_ questions: [LiveQuestion], _ arrivals: LiveArrivals) throws -> [LiveFollower]
    func close() async throws
}

/// Keeps a view alive; it ends with it.
final class LiveFollower: Sendable {
    private let cancel: @Sendable () -> Void

    init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }

    deinit { cancel() }
}
