internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import StorageViews
internal import Synchronization

/// A live query of a client: its result, and the changes of it.
///
/// 1. The first event of a follower without a resume point is a snapshot, and each difference leads from the result after
///    the event before it to the one at its own position.
/// 2. A follower that asks rarely receives the commits in between as one difference, or as a snapshot if that is smaller; nothing else is kept for
///    it.
/// 3. A collection that doesn't exist has no documents; it is followed once it exists.
///
/// Isolation: `Sendable`; it is used by one task at a time.
package final class HubFeed: Sendable {
    /// What a follower receives.
    package enum Event: Sendable {
        /// The whole result, which replaces the follower's.
        case snapshot(HubSnapshot, HubResumePoint)
        case difference(HubDifference, HubResumePoint)
        /// Nothing has changed up to a position.
        case reached(Int64, HubResumePoint)
        /// Nothing has changed for as long as the follower waited.
        case silence
        /// The hub stops.
        case end
    }

    typealias Sequence = LiveSequence<ListDifference<HubLiveDocument>>

    enum State {
        case begun(since: ChangeToken?)
        /// There is no such collection, up to a position.
        case missing(Int64)
        /// - Parameter position: That of the last event; nil before there is one.
        case live(Sequence.Iterator, position: Int64?)
    }

    let hub: StoreHub
    private let entity: String
    private let filters: [QueryFilter]
    private let query: QueryEvaluation
    private let scope: HubScope
    private let memory: LiveQueryMemory.Share
    /// The fingerprint of what the result is of: see ``fingerprint(of:matching:as:)``.
    let fingerprint: String
    let state: Mutex<State>
    /// Set when the query has failed, or the hub stops.
    let signal = HubSignal()
    private let number: Int

    /// - Parameter point: The last event of an earlier feed that the follower has received.
    /// - Throws: ``HubError/forbidden``; ``HubError/invalid(_:)`` for a query that can't be answered.
    init(
        of entity: String, matching query: QueryBuilder, after point: HubResumePoint?, as access: HubAccess,
        in hub: StoreHub
    ) throws {
        guard access.mayRead(entity) else { throw HubError.forbidden }
        do { self.query = try QueryEvaluation(query) } catch let error as StorageError {
            throw HubError.invalid(error.message)
        }
        (self.hub, self.entity, filters) = (hub, entity, query.getFilters())
        scope = HubScope(entity, access)
        memory = LiveQueryMemory.Share(of: hub.liveMemory, limit: hub.limits.queryBytes)
        fingerprint = try Self.fingerprint(of: entity, matching: query, as: access)
        state = Mutex(.begun(since: point?.token(ofResultOf: fingerprint)))
        number = hub.signals.add(signal)
    }

    deinit { hub.signals.remove(number) }

    /// Waits for the next event.
    ///
    /// - Parameter silence: How long to wait. A follower that resumes and has missed nothing receives nothing before that.
    /// - Throws: ``HubError``, also if the client's condition has become invalid or the result too large; errors of the store. It can't be continued
    ///   then.
    package func next(within silence: Duration) async throws -> Event {
        while true {
            try Task.checkCancellation()
            if hub.isStopped { return .end }
            switch state.withLock({ $0 }) {
            case .begun(let token): if let event = try await open(since: token) { return event }
            case .missing(let position): if let event = try await look(behind: position, silence) { return event }
            case .live(let iterator, let position):
                if let event = try await follow(iterator, position, silence) { return event }
            }
        }
    }
}

// MARK: Beginning

extension HubFeed {
    /// Begins to follow the collection.
    ///
    /// - Returns: An empty snapshot if there is no such collection.
    private func open(since token: ChangeToken?) async throws -> Event? {
        let found = try await found()
        guard let live = found.live else {
            state.withLock { $0 = .missing(found.head) }
            return .snapshot(HubSnapshot(position: found.head, documents: []), try await point(found.head))
        }
        begin(live, since: token)
        return nil
    }

    /// Waits until the collection exists.
    private func look(behind position: Int64, _ silence: Duration) async throws -> Event? {
        let seen = await hub.tail.wait(behind: position, in: scope, for: silence)
        if hub.isStopped { return .end }
        let found = try await found()
        if let live = found.live {
            begin(live, since: nil)
            return nil
        }
        guard max(seen, found.head) > position else { return .silence }
        state.withLock { $0 = .missing(found.head) }
        return .reached(found.head, try await point(found.head))
    }

    private func found() async throws -> (live: HubLiveQuery?, head: Int64) {
        let (entity, filters, query, scope, memory) = (entity, filters, query, scope, memory)
        return try await hub.storage.engine.read { db in
            let log = try HubLog(db)
            try log.check(scope)
            let live = log.table(entity).map {
                HubLiveQuery(of: $0, filters, query, scope, memory: memory)
            }
            return (live, log.head)
        }
    }
}

// MARK: Following

extension HubFeed {
    private enum Woken: Sendable {
        case read(Result<ListDifference<HubLiveDocument>?, StorageError>)
        case other
    }

    private func follow(
        _ iterator: Sequence.Iterator, _ position: Int64?, _ silence: Duration
    ) async throws -> Event? {
        let (difference, hasEnded) = try await read(iterator, silence)
        if let difference { return try await event(difference, iterator) }
        try Task.checkCancellation()
        if let error = signal.error { throw Self.reason(error) }
        if hub.isStopped { return .end }
        if hasEnded { throw StorageError.closed() }
        // Only a query that has read its first result is known to be up to date.
        guard let position else { return .silence }
        let engine = hub.storage.subscriptions
        await engine.catchUp()
        let reached = await engine.position
        if let difference = try await pending(iterator) { return try await event(difference, iterator) }
        if let error = signal.error { throw Self.reason(error) }
        guard reached > position else { return .silence }
        state.withLock { $0 = .live(iterator, position: reached) }
        return .reached(reached, try await point(reached))
    }

    /// Waits until the query has changed, something has happened, or the time is over.
    private func read(
        _ iterator: Sequence.Iterator, _ silence: Duration
    ) async throws -> (difference: ListDifference<HubLiveDocument>?, hasEnded: Bool) {
        let signal = signal
        let woken = await withTaskGroup(of: Woken.self) { group in
            group.addTask { .read(await Self.next(iterator)) }
            group.addTask {
                // Ends early if something else happens first.
                try? await Task.sleep(for: silence)
                return .other
            }
            group.addTask {
                await signal.wait()
                return .other
            }
            var woken: [Woken] = []
            for await each in group {
                woken.append(each)
                group.cancelAll()
            }
            return woken
        }
        for (index, each) in woken.enumerated() {
            guard case .read(let result) = each else { continue }
            return (try difference(result), index == 0)
        }
        return (nil, false)
    }

    private static func next(
        _ iterator: Sequence.Iterator
    ) async -> Result<ListDifference<HubLiveDocument>?, StorageError> {
        var iterator = iterator
        do { return .success(try await iterator.next()) } catch { return .failure(error) }
    }

    /// Returns a difference that is already available; nil if there is none.
    private func pending(_ iterator: Sequence.Iterator) async throws -> ListDifference<HubLiveDocument>? {
        let reading = Task { await Self.next(iterator) }
        reading.cancel()
        return try difference(await reading.value)
    }

    /// Returns the difference, or passes the query's error to the signal, which may already have it.
    private func difference(
        _ result: Result<ListDifference<HubLiveDocument>?, StorageError>
    ) throws -> ListDifference<HubLiveDocument>? {
        switch result {
        case .success(let difference): return difference
        case .failure(let error):
            signal.fail(error)
            return nil
        }
    }

    private func event(
        _ difference: ListDifference<HubLiveDocument>, _ iterator: Sequence.Iterator
    ) async throws -> Event {
        let position = difference.position
        state.withLock { $0 = .live(iterator, position: position) }
        let point = try await point(position)
        guard difference.whole != nil else {
            return .difference(HubDifference(position: position, changes: difference.changes), point)
        }
        var documents: [HubLiveDocument] = []
        difference.apply(to: &documents)
        return .snapshot(HubSnapshot(position: position, documents: documents), point)
    }

    private static func reason(_ error: StorageError) -> any Error {
        if let cause = error.cause as? HubError { return cause }
        return switch error.code {
        case .invalidQuery, .invalidArgument, .invalidName: HubError.invalid(error.message)
        // The collection is gone: a follower that begins again receives an empty result.
        case .notFound: StorageError(.busy, error.message, remedy: error.remedy, cause: error)
        default: error
        }
    }
}
