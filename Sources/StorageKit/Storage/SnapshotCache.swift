internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog
internal import Synchronization

/// The most recently read past states, so that reading one again costs nothing.
///
/// Isolation: `Sendable`; the lock is held for looking up only.
final class SnapshotCache: Sendable {
    private struct Key: Hashable {
        let position: Int64
        let schema: SnapshotSchema
    }

    /// The program's column conversions, by title.
    let upcasts: [String: Upcast]
    private let cache = Mutex(LeastRecentlyUsed<Key, MaterializedSnapshot>(capacity: 4))

    init(upcasts: [String: Upcast]) { self.upcasts = upcasts }

    func state(at point: StoragePoint, of db: GRDB.Database, schema: SnapshotSchema) throws -> MaterializedSnapshot {
        let connection = try db.connection
        let position = try LogReader(connection).position(of: point)
        let key = Key(position: position, schema: schema)
        if let state = cache.withLock({ $0.value(for: key) }) {
            // A past state in the current schema is valid only while that schema is unchanged.
            if schema == .asRecorded { return state }
            if state.catalog == (try Catalog.load(connection)) { return state }
        }
        let state = try MaterializedSnapshot(at: position, of: db, schema: schema, upcasts: upcasts)
        cache.withLock { $0.set(state, for: key) }
        return state
    }
}
