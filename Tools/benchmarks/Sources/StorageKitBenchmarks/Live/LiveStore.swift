/// A store that is written to while views follow it.
protocol LiveStore: Sendable {
    func write(_ commit: LiveCommit) async throws
    /// Follows questions until what is returned is released; each value is noted.
    @MainActor func follow(_ questions: [LiveQuestion], _ arrivals: LiveArrivals) throws -> [LiveFollower]
    /// What the store has done beside its commits to keep views up to date; nil where nobody counts that.
    func workOfViews() async -> LiveWork?
    func close() async throws
}

extension LiveStore {
    func workOfViews() async -> LiveWork? { nil }
}

/// What keeping views up to date has taken.
struct LiveWork {
    let duration: Duration
    let statements: Int
}

/// Keeps a view alive; it ends with it.
final class LiveFollower: Sendable {
    private let cancel: @Sendable () -> Void

    init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }

    deinit { cancel() }
}
