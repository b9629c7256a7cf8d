package import GRDB
public import StorageCore
package import StorageEntities
package import StorageHistory
public import StorageLog

/// A moving point in a store's history, with the views that show it.
///
/// ```swift
/// let timeline = try await storage.timeline(from: .tag("release-3"))
/// for try await users in timeline.query(User.self).orderBy(\.name).live().snapshots { show(users) }
/// ```
///
/// Views of its queries are created and kept up to date like the store's. Moving forward costs as much as the events;
/// moving back reloads the views. Historical tables are built in a temporary database, for the entities that views
/// read.
///
/// Isolation: an actor; one move after another.
public actor StorageTimeline {
    /// How fast history is played.
    public enum Pace: Sendable {
        /// Commits at a constant rate per second.
        case commitsPerSecond(Double)
        /// In real time, accelerated by a factor. Pauses are shortened to at most a second.
        case time(factor: Double)
    }

    private let engine: StorageEngine
    private nonisolated let source: ReplaySource
    package nonisolated let subscriptions: SubscriptionEngine
    package nonisolated let searchIndexes: SearchIndexes

    /// - Parameter upcasts: The program's conversions of columns, by their titles.
    package init(_ engine: StorageEngine, at position: Int64, upcasts: [String: Upcast]) {
        self.engine = engine
        searchIndexes = SearchIndexes(remembers: false)
        source = ReplaySource(engine, at: position, upcasts: upcasts)
        subscriptions = SubscriptionEngine(source)
    }

    /// The end of the commit at a point: views show whole commits.
    ///
    /// - Throws: `not-found` for a point that isn't in the log.
    package static func position(of point: StoragePoint, in engine: StorageEngine) async throws -> Int64 {
        try await engine.read { db in
            let connection = try db.connection
            let reader = LogReader(connection)
            return try reader.lastPosition(ofCommitAt: reader.position(of: point))
        }
    }

    /// The position that views show; while they follow the store, the store's last position.
    public nonisolated var position: Int64 { source.isLive ? engine.committed.position : source.position }
    /// Whether it has reached the end and follows the store.
    public nonisolated var isLive: Bool { source.isLive }

    /// Moves to the end of the next commit.
    ///
    /// - Returns: The commit; nil if there is no further one.
    /// - Throws: `StorageError`, for example with `closed`.
    @discardableResult
    public func stepForward() async throws -> CommitInfo? {
        while true {
            let moment = source.moment
            guard !moment.isLive, let next = try await commit(at: moment.position + 1) else { return nil }
            if try await change(from: moment, { try $0.move(to: next.end) }) { return next.info }
        }
    }

    /// Moves back to the state before the last commit.
    ///
    /// ```swift
    /// if let commit = try await timeline.stepBack() { print("before", commit.number) }
    /// ```
    ///
    /// - Returns: The commit that views no longer show; nil if there was none.
    /// - Throws: `StorageError`, for example with `closed`.
    @discardableResult
    public func stepBack() async throws -> CommitInfo? {
        while true {
            let moment = source.moment
            let from = moment.isLive ? engine.committed.position : moment.position
            guard from > 0, let last = try await commit(at: from) else { return nil }
            if try await change(from: moment, { try $0.move(to: last.start - 1) }) { return last.info }
        }
    }

    /// Moves to a point, before or after the current one.
    ///
    /// ```swift
    /// try await timeline.move(to: .commit(41))
    /// ```
    ///
    /// - Throws: `StorageError` with `not-found` for a point that isn't in the log.
    public func move(to point: StoragePoint) async throws {
        let position = try await Self.position(of: point, in: engine)
        _ = try await change { try $0.move(to: position) }
    }

    /// Plays the history to the end of the log, and then follows the store. It stops early if the task is cancelled.
    ///
    /// ```swift
    /// try await timeline.play(.commitsPerSecond(10)) { commit in print(commit.date.formatted()) }
    /// ```
    ///
    /// Other moves may happen while it plays: it continues from the point that they reach, and ends if they reach the
    /// present.
    ///
    /// - Parameter watch: Called with each commit when views show it.
    /// - Throws: `CancellationError`; `StorageError`, for example with `closed`.
    public func play(
        _ pace: Pace, _ watch: @escaping @Sendable (CommitInfo) async -> Void = { _ in }
    ) async throws {
        var last: Int64?
        while true {
            try Task.checkCancellation()
            let moment = source.moment
            guard !moment.isLive, let next = try await commit(at: moment.position + 1) else {
                try Task.checkCancellation()
                if try await change(from: moment, { $0.goLive() }) { return }
                continue
            }
            switch pace {
            case .commitsPerSecond(let rate): try await Task.sleep(for: .limited(seconds: 1 / max(rate, 0.001)))
            case .time(let factor):
                let seconds = Double(next.info.time - (last ?? next.info.time)) / 1_000_000 / max(factor, 0.001)
                try await Task.sleep(for: .limited(seconds: min(1, seconds)))
            }
            guard try await change(from: moment, { try $0.move(to: next.end) }) else {
                last = nil
                continue
            }
            last = next.info.time
            await watch(next.info)
        }
    }

    /// Moves to the end of the log, and follows the store from there on.
    ///
    /// ```swift
    /// await timeline.goLive()
    /// ```
    public func goLive() async {
        await subscriptions.runExclusively { source.goLive() }
        await show()
    }

    /// Changes what is shown. Another move may run while this actor waits, so one that depends on what was shown before
    /// says so.
    ///
    /// - Parameter moment: What it depends on.
    /// - Returns: Whether it was done: what it depends on was still shown.
    private func change(
        from moment: ReplaySource.Moment? = nil, _ body: @Sendable (ReplaySource) throws -> Void
    ) async throws -> Bool {
        let isDone = try await subscriptions.runExclusively {
            guard moment == nil || moment == source.moment else { return false }
            try body(source)
            return true
        }
        if isDone { await show() }
        return isDone
    }

    private func show() async {
        await subscriptions.catchUp(isUrgent: true)
        let deliveryQueue = subscriptions.deliveryQueue
        await MainActor.run { deliveryQueue.drain() }
    }

    private func commit(at position: Int64) async throws -> (info: CommitInfo, start: Int64, end: Int64)? {
        try await engine.read { db in
            let connection = try db.connection
            let reader = LogReader(connection)
            guard position > 0, position <= (try reader.head().position),
                var batch = try reader.batch(containing: position)
            else { return nil }
            let info = batch.commit(ofEvent: Int(position - batch.positions.lowerBound))
            let end = try reader.lastPosition(ofCommitAt: position)
            // A commit may begin in an earlier segment.
            var start = position
            while let part = batch.commits.first(where: { $0.info.number == info.number }) {
                start = batch.positions.lowerBound + Int64(part.events.lowerBound)
                guard part.events.lowerBound == 0, batch.beginsInsideCommit,
                    let earlier = try reader.batch(containing: start - 1)
                else { break }
                batch = earlier
            }
            return (info, start, end)
        }
    }

    /// Reads the moment that is shown.
    package nonisolated func reading<Result: Sendable>(
        _ table: String, _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await subscriptions.read(Interest(entity: table, predicate: nil), body)
    }
}
