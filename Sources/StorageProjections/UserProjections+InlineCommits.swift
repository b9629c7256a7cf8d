internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
package import StorageLog

extension UserProjections {
    package func apply(
        _ events: Range<Int>, of view: EventView, commit: CommitInfo, in writer: LogWriter
    ) throws {
        guard !slots.isEmpty else { return }
        // A commit of that number was undone.
        reactions.removeAll { $0.commit >= commit.number }
        let first = writer.head.position + 1
        let positions = first + Int64(events.lowerBound)...first + Int64(events.upperBound) - 1
        for slot in slots where slot.isInStep {
            let wanted = wanted(slot, writer.catalog)
            let own = events.filter { wanted.contains(view.shape(of: $0).entity) }.map {
                RowEvent(view, at: $0, position: first + Int64($0), commit: commit)
            }
            let applied = try own.isEmpty ? [] : applyInStep(slot, EventSlice(own, at: positions), on: writer)
            guard slot.hasSideEffects else { continue }
            // Also where it has no events, so that what comes before and after is one range.
            let ranges = AppliedRange.ranges(of: applied, among: own, in: positions)
            reactions.append(Reaction(name: slot.name, commit: commit.number, ranges: ranges))
        }
    }

    func applyInStep(
        _ slot: Slot, _ slice: EventSlice, on writer: LogWriter
    ) throws -> [RowEvent] {
        guard var checkpoint = try Checkpoint.load(slot.name, writer.database) else { return [] }
        let started = ContinuousClock.now
        let applied: [RowEvent]
        do {
            applied = try run(slot, on: slice, isReplay: false, isBehind: false, with: writer)
        } catch {
            throw StorageError.projectionFailed(slot.name, at: slice.positions, cause: error)
        }
        checkpoint.position = max(checkpoint.position, slice.positions.upperBound)
        checkpoint.count(applied.count, since: started, on: writer)
        try checkpoint.save(slot.name, writer)
        return applied
    }

    package func committed(in writer: LogWriter) {
        let through = writer.head.commit
        let due = reactions.filter { $0.commit <= through }
        reactions = []
        onCommit?(writer.head.position, due.map { ($0.name, $0.ranges) })
    }

    package func rebuild(_ entities: [CatalogEntity], in writer: LogWriter) throws {
        for slot in slots where slot.isInStep {
            do {
                try rebuild(slot, on: writer)
            } catch let failure as ProjectionBatchError {
                throw StorageError.projectionFailed(slot.name, at: failure.positions, cause: failure.cause)
            }
        }
    }

    /// Passes a slice to the projection; events of rows with dead letters are stored as dead letters instead.
    ///
    /// - Returns: The events that were applied.
    func run(
        _ slot: Slot, on slice: EventSlice, isReplay: Bool, isBehind: Bool, with writer: LogWriter
    ) throws -> [RowEvent] {
        let events = slot.hasDeadLetters ? try park(slice.events, of: slot, on: writer) : slice.events
        guard !events.isEmpty else { return [] }
        let resolver = RowResolver(writer, upcasts: upcasts, isBehind: isBehind, cache: isBehind ? slot.cache : nil)
        let batch = ProjectionBatch(
            positions: slice.positions, isReplay: isReplay, rowEvents: events, catalog: writer.catalog,
            resolver: resolver)
        let captured = writer.pendingEvents
        let db = try connection()
        try writer.asProjection { try slot.projection.apply(batch, db) }
        guard writer.pendingEvents == captured else { throw StorageError.projectionWrites(slot.name) }
        return events
    }
}
