internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageProjections
internal import Synchronization

/// The states of the past that were read last, so that asking again costs nothing.
///
/// Isolation: `Sendable`; the lock is held for looking up only.
final class PastStates: Sendable {
    private struct Key: Hashable {
        let position: Int64
        let schema: PastSchema
    }

    /// What the program's conversions of columns do, by their titles.
    let upcasts: [String: Upcast]
    private let known = Mutex(LeastRecentlyUsed<Key, PastState>(capacity: 4))

    init(upcasts: [String: Upcast]) { self.upcasts = upcasts }

    func state(at point: StoragePoint, of db: GRDB.Database, schema: PastSchema) throws -> PastState {
        guard let connection = db.sqliteConnection else { throw StorageError.closed() }
        let position = try LogReader(connection).position(of: point)
        let key = Key(position: position, schema: schema)
        if let state = known.withLock({ $0.value(for: key) }) {
            // What the past looks like from now changes with the schema of now.
            if schema == .then { return state }
            if state.catalog == (try Catalog.load(connection)) { return state }
        }
        let state = try PastState(at: position, of: db, schema: schema, upcasts: upcasts)
        known.withLock { $0.set(state, for: key) }
        return state
    }
}
