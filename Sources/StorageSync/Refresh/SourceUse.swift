internal import StorageKit
internal import Synchronization

/// How one of those who show a source has it fetched.
///
/// Sources of one name are one source, however many show it. Their remotes may differ even so: a feature's provider, inside of another of
/// its type, has an API of its own.
final class SourceUse: Sendable {
    let policy: QueryCachePolicy
    /// Asks the remote, and merges its answer; nil where there is none.
    let run: (@Sendable () async throws -> QuerySourceStatus)?
    private let end = Mutex<(@Sendable () -> Void)?>(nil)

    init<Element>(_ source: QuerySource<Element>, in storage: Storage) {
        policy = source.policy
        if let action = source.refreshAction {
            run = { try await SourceRefresh(storage: storage, source: source, action: action).run() }
        } else {
            run = nil
        }
    }

    deinit { end.withLock { $0 }?() }

    /// - Parameter body: Called when nobody shows the source in this way any more.
    func whenGone(_ body: @escaping @Sendable () -> Void) { end.withLock { $0 = body } }
}
