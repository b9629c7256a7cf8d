internal import StorageCore
internal import StorageLog
internal import StorageViews
internal import Synchronization

// A follower that reconnects names the last event that it has received. If that was an event of the same query under the same rights, the follower
// receives the difference since; otherwise the whole result.

extension HubFeed {
    /// A fingerprint of the collection, the query, and the rights of the client: feeds with the same one can continue each other's results.
    static func fingerprint(
        of entity: String, matching query: QueryBuilder, as access: HubAccess
    ) throws -> String {
        let rights = try access.fingerprint
        return ("\(entity.utf8.count):\(entity)\(rights)".utf8 + query.json).fnv1a
    }

    /// Begins to follow the query.
    ///
    /// - Parameter token: The state that the follower has; nil for a follower that receives the whole result.
    func begin(_ live: HubLiveQuery, since token: ChangeToken?) {
        let onError: @Sendable (StorageError) -> Void = { [signal] in signal.fail($0) }
        let query = live.live(hub.storage.subscriptions)
        let sequence =
            token.map { query.differences(since: $0, onError: onError) } ?? query.differences(onError: onError)
        state.withLock { $0 = .live(sequence.makeAsyncIterator(), position: nil) }
    }

    /// The resume point of a follower that has received everything up to a position.
    func point(_ position: Int64) async throws -> HubResumePoint {
        HubResumePoint(try await hub.token(at: position), fingerprint)
    }
}
