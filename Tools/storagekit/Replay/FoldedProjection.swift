import GRDB
import StorageKit

/// A projection that a replay folds while stepping, in a temporary database.
///
/// Not `Sendable`: it is used inside one read.
final class FoldedProjection {
    private let projection: any Projection
    private let store: HistoryReader
    private var scratch: ScratchProjection

    init(_ projection: any Projection, _ store: HistoryReader) throws {
        self.projection = projection
        self.store = store
        scratch = try ScratchProjection(projection, of: store.connection, catalog: store.catalog)
    }

    /// Brings the projection to a position. It can only be applied forward, so going back rebuilds it.
    func go(to position: Int64) throws {
        if scratch.position > position {
            scratch = try ScratchProjection(projection, of: store.connection, catalog: store.catalog)
        }
        try scratch.catchUp(to: position)
    }

    func add(_ batch: EventBatch, at index: Int, commit: CommitInfo) throws {
        try scratch.add(batch, at: index, commit: commit)
    }

    func apply(through position: Int64) throws -> [RowDifference] { try scratch.apply(through: position) }

    /// Its tables with their columns, for queries.
    var tables: [(name: String, columns: [String])] { scratch.tables.map { ($0.name, $0.columns) } }

    func read(_ body: (Connection) throws -> Void) throws { try scratch.connected(body) }
}
