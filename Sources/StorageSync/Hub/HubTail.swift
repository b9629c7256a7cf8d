internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import Synchronization

/// The end of a hub's log, read once for all followers, and the followers that wait for more.
///
/// Invariants:
/// 1. The changes are all changes after the first boundary and up to `end`, by position.
/// 2. A page begins at the boundary of a part: the old state in a change is the state at that boundary.
/// 3. While a follower waits, nothing that is appended concerns it.
///
/// A slow follower receives several changes of a document combined into one; a follower that falls behind the kept changes reads the log. Neither
/// delays the others.
///
/// Isolation: `Sendable`, its state behind a mutex.
final class HubTail: Sendable {
    /// The maximum size of the tail.
    private static let maximumBytes = 16 << 20
    private static let maximumChanges = 50_000

    private struct State {
        var end: Int64
        /// The catalog as of the last part.
        var catalog: Catalog
        /// Columns that conditions name and that no table has or had.
        var unknownColumns: Set<HubScope.ConditionColumn> = []
        var changes: [HubChange] = []
        /// The boundaries of parts, in order; the last one is the end.
        var borders: [Int64]
        var bytes = 0
        var waiters = HubWaiters<Waiter>()
        var lastWaiter = 0
        var isStopped = false
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Int64, Never>
        /// Wakes the follower when it has waited as long as it wants to.
        let alarm: Task<Void, any Error>

        /// - Parameter position: Nothing up to it concerns the follower.
        func resume(at position: Int64) {
            alarm.cancel()
            continuation.resume(returning: position)
        }
    }

    private let state: Mutex<State>

    init(head: Int64, catalog: Catalog) { state = Mutex(State(end: head, catalog: catalog, borders: [head])) }

    var end: Int64 { state.withLock { $0.end } }
    var waiterCount: Int { state.withLock { $0.waiters.count } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// The changes after a position that concern a follower, one for each document, and the position up to which they
    /// are complete.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of changes. A page contains whole parts only, because a document's last change may
    ///     be in another part than the one that hid it from the follower.
    ///   - bytes: The maximum size, unless the first part is larger.
    /// - Returns: nil if the position isn't a boundary of the tail, the next part exceeds the limit, a condition
    ///   names an unknown column, or an entity can't be served: the reason is found by reading the log.
    func changes(
        behind position: Int64, in scope: HubScope, limit: Int, bytes: Int
    ) -> (changes: [RemoteChange], end: Int64, isWhole: Bool)? {
        let kept = state.withLock { state -> Kept? in
            guard let border = state.borders.index(ofBorder: position) else { return nil }
            let first = state.changes.partitioningIndex { $0.position > position }
            var (end, behind, total) = (border, first, 0)
            while end < state.borders.count - 1 {
                let reached = state.borders[end + 1]
                let next = state.changes.partitioningIndex { $0.position > reached }
                guard next - first <= limit else { break }
                total += state.changes[behind..<next].reduce(0) { $0 + $1.byteCount }
                guard total <= bytes || end == border else { break }
                (end, behind) = (end + 1, next)
            }
            guard end > border || border == state.borders.count - 1 else { return nil }
            return Kept(
                changes: state.changes[first..<behind], end: state.borders[end],
                isWhole: end == state.borders.count - 1,
                catalog: state.catalog, unknownColumns: state.unknownColumns)
        }
        guard let kept, scope.missingColumns(in: kept.catalog).isSubset(of: kept.unknownColumns),
            scope.obstacle(in: kept.catalog) == nil
        else { return nil }
        return (Self.composed(kept.changes, in: scope), kept.end, kept.isWhole)
    }

    /// The tail after a position, with its catalog.
    private struct Kept {
        let changes: ArraySlice<HubChange>
        let end: Int64
        let isWhole: Bool
        let catalog: Catalog
        let unknownColumns: Set<HubScope.ConditionColumn>
    }

    /// Records columns that no table of a catalog has or had, so that conditions on them needn't be looked up in the
    /// log again.
    func note(unknown columns: Set<HubScope.ConditionColumn>, in catalog: Catalog) {
        guard !columns.isEmpty else { return }
        state.withLock { state in
            if state.catalog == catalog { state.unknownColumns.formUnion(columns) }
        }
    }

    /// The changes that a follower may see, combined for each document.
    ///
    /// - Parameter changes: Those of a document in their order.
    static func composed(_ changes: some Sequence<HubChange>, in scope: HubScope) -> [RemoteChange] {
        var net: [DocumentID: HubChange] = [:]
        // Changes of a document that the follower may not see are skipped: otherwise the last one would reveal its
        // position.
        for change in changes where scope.concerns(change) {
            let document = DocumentID(entity: change.table.name, id: change.id)
            net[document] = net[document].map { $0.followed(by: change) } ?? change
        }
        return net.values.compactMap(scope.visibleChange(of:)).sorted { $0.position < $1.position }
    }
}

// MARK: Growing

extension HubTail {
    /// Appends changes that were read after ``end``, and wakes the followers that they concern: all followers, if
    /// tables have changed.
    func append(_ changes: [HubChange], end: Int64, in catalog: Catalog) {
        let woken: [(Waiter, Int64)] = state.withLock { state in
            guard end > state.end else { return [] }
            let before = state.end
            if catalog != state.catalog {
                // Conditions are evaluated on a change as its table was when it was read. A column may have come since, or
                // gone: earlier positions are read from the log.
                (state.changes, state.borders, state.bytes) = ([], [before], 0)
            }
            state.end = end
            state.borders.append(end)
            state.changes += changes
            state.bytes += changes.reduce(0) { $0 + $1.byteCount }
            Self.trim(&state)
            guard catalog == state.catalog else {
                // A condition may refer to a dropped column.
                (state.catalog, state.unknownColumns) = (catalog, [])
                return state.waiters.removeAll().map { ($0, before) }
            }
            return state.waiters.removeConcerned(by: changes).map { ($0, before) }
        }
        for (waiter, position) in woken { waiter.resume(at: position) }
    }

    private static func trim(_ state: inout State) {
        // A part without changes may still be a boundary.
        guard state.bytes > maximumBytes || max(state.changes.count, state.borders.count) > maximumChanges else {
            return
        }
        // Removes whole parts, down to half the limit, so that this is rare; and all at once, because each removal
        // moves the rest.
        var (border, removed) = (0, 0)
        while border < state.borders.count - 1,
            state.bytes > maximumBytes / 2
                || max(state.changes.count - removed, state.borders.count - border) > maximumChanges / 2
        {
            border += 1
            while removed < state.changes.count, state.changes[removed].position <= state.borders[border] {
                state.bytes -= state.changes[removed].byteCount
                removed += 1
            }
        }
        state.changes.removeFirst(removed)
        state.borders.removeFirst(border)
    }
}

// MARK: Waiting

extension HubTail {
    /// Waits until something concerns a follower that has seen everything up to a position, or for as long as it wants
    /// to wait.
    ///
    /// - Returns: The position up to which nothing concerns it.
    func wait(behind position: Int64, in scope: HubScope, for duration: Duration) async -> Int64 {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAtEnd = state.withLock { state in
                    guard !state.isStopped, !Task.isCancelled, state.end <= position else { return false }
                    // Created under the lock: however early it fires, it finds its waiter.
                    let alarm = Task {
                        try await Task.sleep(for: duration)
                        wake(id)
                    }
                    // A follower that has read the log beyond the tail's end knows documents that may have been
                    // inserted and deleted again since.
                    state.waiters.insert(
                        Waiter(continuation: continuation, alarm: alarm), id, in: scope,
                        isImpatient: position > state.end)
                    return true
                }
                if !isAtEnd { continuation.resume(returning: position) }
            }
        } onCancel: {
            wake(id)
        }
    }

    private func wake(_ id: Int) {
        let (waiter, end) = state.withLock { ($0.waiters.remove(id), $0.end) }
        waiter?.resume(at: end)
    }

    /// Wakes all followers; later ones don't wait.
    func stop() {
        let (waiters, end) = state.withLock { state in
            state.isStopped = true
            return (state.waiters.removeAll(), state.end)
        }
        for waiter in waiters { waiter.resume(at: end) }
    }
}

extension [Int64] {
    fileprivate func index(ofBorder position: Int64) -> Int? {
        let index = partitioningIndex { $0 >= position }
        return index < count && self[index] == position ? index : nil
    }
}
