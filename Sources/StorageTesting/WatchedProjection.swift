internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageProjections
internal import Synchronization

/// A wrapper of a projection that checks that batches are consecutive, and injects failures.
final class WatchedProjection: Projection {
    private let base: any Projection
    /// Whether it throws once after each batch.
    let stumbles: Bool
    private let stopsAfter: Int64?
    private let state = Mutex((last: Int64(0), stumbled: Set<Int64>(), findings: [String]()))

    init(_ base: any Projection, stumbles: Bool = false, stopsAfter: Int64? = nil) {
        self.base = base
        self.stumbles = stumbles
        self.stopsAfter = stopsAfter
    }

    var findings: [String] { state.withLock { $0.findings } }
    var name: String { base.name }
    var version: Int { base.version }
    var entities: [String] { base.entities }

    func prepare(_ db: GRDB.Database) throws { try base.prepare(db) }

    func apply(_ batch: ProjectionBatch, _ db: GRDB.Database) throws {
        let events = batch.events.map(\.position)
        state.withLock { state in
            // The first batch after a reset begins at 1.
            if let first = events.first, first <= state.last, batch.positions.lowerBound > 1 {
                state.findings.append("the batch of @\(first) came after @\(state.last)")
            }
            if events != events.sorted() || events.contains(where: { !batch.positions.contains($0) }) {
                state.findings.append("the events of batch \(batch.positions) are out of order")
            }
            state.last = events.last ?? state.last
        }
        if let stopsAfter, let last = events.last, last > stopsAfter { throw Trouble(at: last) }
        try base.apply(batch, db)
        guard stumbles, let first = events.first else { return }
        if state.withLock({ $0.stumbled.insert(first).inserted }) { throw Trouble(at: first) }
    }

    struct Trouble: Error {
        let at: Int64
    }
}
