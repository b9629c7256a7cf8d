internal import StorageKit
internal import Synchronization

/// How one user of a source fetches it.
///
/// Sources with the same name are one source, however many users show it. Their remotes may still differ: a feature's
/// provider, nested inside another of its type, has its own API.
final class SourceUse: Sendable {
    let policy: QueryCachePolicy
    /// Asks the remote, and merges its answer; nil if there is none.
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

    /// - Parameter body: Called when the use ends.
    func onEnd(_ body: @escaping @Sendable () -> Void) { end.withLock { $0 = body } }
}
