internal import CSQLite
internal import GRDB
internal import StorageHistory
internal import StorageLog
internal import Synchronization

/// Calls a ``SideEffectingProjection`` for the events that it has applied, once they are committed.
///
/// - Only their positions wait, and the events are read from the log when the projection is ready for them: if it is slower than the
///   commits, memory doesn't grow with them.
/// - Adjacent positions are one range. There are several only where dead letters, or history that was replayed, lie between them.
/// - A call has the events of one segment at most.
///
/// Isolation: `Sendable`, its state behind a mutex; one task runs it.
final class PendingReactions: Sendable {
    private let projection: any SideEffectingProjection
    private let due = Mutex<[ClosedRange<Int64>]>([])
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    private struct Page: Sendable {
        var events: [StorageEvent] = []
        /// The last position that was read.
        var end: Int64
    }

    init(_ projection: any SideEffectingProjection) {
        self.projection = projection
        (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds positions that are committed.
    func add(_ ranges: [AppliedRange]) {
        due.withLock { due in
            for range in ranges {
                if let last = due.last, last.upperBound + 1 == range.positions.lowerBound {
                    due[due.count - 1] = last.lowerBound...range.positions.upperBound
                } else if range.hasEvents {
                    due.append(range.positions)
                }
            }
        }
        if ranges.contains(where: \.hasEvents) { wake.yield() }
    }

    /// Ends ``run(_:)`` once everything that was added is reported.
    func finish() { wake.finish() }

    func run(_ engine: StorageEngine) async {
        for await _ in wakes {
            while let range = due.withLock({ $0.first }) {
                // A log that can't be read is reported by whatever else reads it; it is tried again with the next events.
                guard let page = try? await engine.read({ db in try self.page(of: range, db) }) else { break }
                // Before the call, so that no event is reported twice.
                pass(through: page.end)
                if !page.events.isEmpty { await projection.committed(page.events) }
            }
        }
    }

    private func pass(through position: Int64) {
        due.withLock { due in
            // More may have been added to it meanwhile.
            let last = due[0].upperBound
            if position < last { due[0] = position + 1...last } else { due.removeFirst() }
        }
    }

    /// The first events of a range.
    private func page(of range: ClosedRange<Int64>, _ db: GRDB.Database) throws -> Page {
        let connection = try db.connection
        let catalog = try Catalog.load(connection)
        let wanted = catalog.entities(named: projection.entities)
        var page = Page(end: range.upperBound)
        try LogReader(connection).forEachBatch(
            in: range, where: { $0.entities.contains { wanted.contains($0) } }
        ) { batch in
            batch.withView { view in
                for index in 0..<view.count where wanted.contains(view.shape(of: index).entity) {
                    let position = batch.header.first + Int64(index)
                    guard range.contains(position) else { continue }
                    let event = RowEvent(view, at: index, position: position, commit: batch.commit(ofEvent: index))
                    page.events.append(event.event(catalog))
                }
            }
            guard !page.events.isEmpty else { return true }
            page.end = min(batch.header.last, range.upperBound)
            return false
        }
        return page
    }
}
