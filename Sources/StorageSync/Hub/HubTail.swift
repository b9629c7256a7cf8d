internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import Synchronization

/// The end of a hub's log, read once for all who follow it, and who waits for more.
///
/// Always true:
/// 1. The changes are all changes behind the first border and up to `end`, by position.
/// 2. A page begins at the border of a part: what a document was before its change is what it was there.
/// 3. Nothing that was appended while a follower has waited concerns it.
///
/// A follower that is slow finds more than one change of a document, and gets one; one that is slower than the memory allows reads
/// the log. Nobody waits for either.
///
/// Isolation: `Sendable`, its state behind a mutex.
final class HubTail: Sendable {
    /// How much of the log is kept.
    private static let maximumBytes = 16 << 20
    private static let maximumChanges = 50_000

    private struct State {
        var end: Int64
        /// As it was read with the last part.
        var catalog: Catalog
        /// Columns that conditions name, and that no table has or had.
        var unknownColumns: Set<HubScope.ConditionColumn> = []
        var changes: [HubChange] = []
        /// Where parts begin and end, in order; the last one is the end.
        var borders: [Int64]
        var bytes = 0
        var waiters = HubWaiters<Waiter>()
        var lastWaiter = 0
        var isStopped = false
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Int64, Never>
        /// Wakes it when it has waited for as long as it wants to.
        let alarm: Task<Void, any Error>

        /// - Parameter position: Up to it nothing concerns the follower.
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

    /// The changes behind a position that concern a follower, each document's once, and up to where they reach.
    ///
    /// - Parameters:
    ///   - limit: The most changes; a page has whole parts only, because a document's last change may lie in another part than
    ///     the one with which it has left what the follower sees.
    ///   - bytes: The most bytes, but where the first part has more.
    /// - Returns: nil where the position is no border of what is kept, or the next part has more changes than the limit, or where a
    ///   condition names a column that isn't there: whether it was is in the log.
    func changes(
        behind position: Int64, in scope: HubScope, limit: Int, bytes: Int
    ) -> (changes: [RemoteChange], end: Int64, isWhole: Bool)? {
        let kept = state.withLock { state -> Kept? in
            guard let border = state.borders.index(ofBorder: position) else { return nil }
            let first = state.changes.sortedIndex { $0.position > position }
            var (end, behind, total) = (border, first, 0)
            while end < state.borders.count - 1 {
                let reached = state.borders[end + 1]
                let next = state.changes.sortedIndex { $0.position > reached }
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
        guard let kept, scope.missingColumns(in: kept.catalog).isSubset(of: kept.unknownColumns) else { return nil }
        return (Self.composed(kept.changes, in: scope), kept.end, kept.isWhole)
    }

    /// What is kept behind a position, with the catalog that belongs to it.
    private struct Kept {
        let changes: ArraySlice<HubChange>
        let end: Int64
        let isWhole: Bool
        let catalog: Catalog
        let unknownColumns: Set<HubScope.ConditionColumn>
    }

    /// Takes note of columns that no table of a catalog has or had, so that conditions on them needn't be asked about in the log again.
    func note(unknown columns: Set<HubScope.ConditionColumn>, in catalog: Catalog) {
        guard !columns.isEmpty else { return }
        state.withLock { state in
            if state.catalog == catalog { state.unknownColumns.formUnion(columns) }
        }
    }

    /// The changes that a follower may see, those of a document composed to one.
    ///
    /// - Parameter changes: Those of a document in their order.
    static func composed(_ changes: some Sequence<HubChange>, in scope: HubScope) -> [RemoteChange] {
        var net: [DocumentID: HubChange] = [:]
        // What happens to a document while the follower may not see it is left out: else the last of it would give its position.
        for change in changes where scope.concerns(change) {
            let document = DocumentID(entity: change.table.name, id: change.id)
            net[document] = net[document].map { $0.followed(by: change) } ?? change
        }
        return net.values.compactMap(scope.visibleChange(of:)).sorted { $0.position < $1.position }
    }
}

// MARK: Growing

extension HubTail {
    /// Takes what was read behind ``end``, and wakes those whom it concerns: all, where tables have changed.
    func append(_ changes: [HubChange], end: Int64, in catalog: Catalog) {
        let woken: [(Waiter, Int64)] = state.withLock { state in
            guard end > state.end else { return [] }
            let before = state.end
            state.end = end
            state.borders.append(end)
            state.changes += changes
            state.bytes += changes.reduce(0) { $0 + $1.byteCount }
            Self.trim(&state)
            guard catalog == state.catalog else {
                // A condition may be about a column that has gone.
                (state.catalog, state.unknownColumns) = (catalog, [])
                return state.waiters.removeAll().map { ($0, before) }
            }
            return state.waiters.removeConcerned(by: changes).map { ($0, before) }
        }
        for (waiter, position) in woken { waiter.resume(at: position) }
    }

    private static func trim(_ state: inout State) {
        // A part may have no change, and be a border all the same.
        guard state.bytes > maximumBytes || max(state.changes.count, state.borders.count) > maximumChanges else {
            return
        }
        // Whole parts, and half of it, so that it isn't done again at once. All at once: each removal moves what is left.
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
    /// Waits until something concerns a follower that has seen everything up to a position, or for as long as it wants to wait.
    ///
    /// - Returns: Up to where nothing concerns it.
    func wait(behind position: Int64, in scope: HubScope, for duration: Duration) async -> Int64 {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAtEnd = state.withLock { state in
                    guard !state.isStopped, !Task.isCancelled, state.end <= position else { return false }
                    // Begun under the lock: however early it goes off, it finds whom to wake.
                    let alarm = Task {
                        try await Task.sleep(for: duration)
                        wake(id)
                    }
                    // One that has read the log beyond the tail's end knows documents that may have come and gone since then.
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

    /// Wakes everybody; nobody waits any more.
    func stop() {
        let (waiters, end) = state.withLock { state in
            state.isStopped = true
            return (state.waiters.removeAll(), state.end)
        }
        for waiter in waiters { waiter.resume(at: end) }
    }
}

extension Array {
    /// Of the first element for which a condition holds, which holds for all behind it too.
    fileprivate func sortedIndex(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension [Int64] {
    fileprivate func index(ofBorder position: Int64) -> Int? {
        let index = sortedIndex { $0 >= position }
        return index < count && self[index] == position ? index : nil
    }
}
