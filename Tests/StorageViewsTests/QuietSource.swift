@testable import StorageLog
@testable import StorageViews

/// The open store, whose commits are only looked at when somebody asks, so that a test says how many come together.
struct QuietSource: FeedSource {
    private let live: LiveSource

    init(_ store: StorageEngine) { live = LiveSource(store) }

    var emitsEvents: Bool { false }

    var needsInterests: Bool { false }

    func read<Result>(_ interests: [Interest], _ body: (FeedState) throws -> Result) throws -> Result {
        try live.read(interests, body)
    }

    func requestColumns(_ columns: [UInt32]) {}
    func start(_ inbox: CommitInbox, closed: @escaping @Sendable () -> Void) {}
    func stop() {}

    func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation { live.onClose(body) }
}
