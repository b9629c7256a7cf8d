internal import StorageCore
internal import StorageLog
internal import StorageViews
internal import Synchronization

// A follower that comes back names the last event that it has received. Where that was an event of the same query, by the
// same rights, it receives the difference since; otherwise the whole result.

extension HubFeed {
    /// What two feeds have in common whose results may continue each other: the collection, the query, and the rights of
    /// the client.
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

    /// Where a follower resumes that has received everything up to a position.
    func point(_ position: Int64) async throws -> HubResumePoint {
        HubResumePoint(try await hub.token(at: position), fingerprint)
    }
}
