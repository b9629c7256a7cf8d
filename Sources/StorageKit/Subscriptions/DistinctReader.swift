internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageViews
internal import Synchronization

/// Reads values of SQL that differ from the last one.
///
/// Isolation: `Sendable`, its state behind a mutex; one task reads at a time.
final class DistinctReader<Value: Sendable & Equatable>: Sendable {
    private struct State {
        var last: Value?
        /// What the consumer has already, until it was looked for.
        var known: KnownState?
    }

    private let storage: Storage
    private let body: @Sendable (Database) throws -> Value
    private let reader: TrackedReader<Value>
    private let onError: @Sendable (StorageError) -> Void
    private let state: Mutex<State>

    /// - Parameter known: What the consumer has already: the first value is compared with that, where it can be had.
    init(
        _ storage: Storage, _ body: @escaping @Sendable (Database) throws -> Value, since known: KnownState? = nil,
        _ onError: @escaping @Sendable (StorageError) -> Void
    ) {
        self.storage = storage
        self.body = body
        reader = TrackedReader(storage, body)
        self.onError = onError
        state = Mutex(State(known: known))
    }

    /// - Throws: Where the first value can't be had, and asking again is of no use.
    func next() async throws(StorageError) -> (old: Value?, new: Value, position: Int64)? {
        while true {
            var old = state.withLock { $0.last }
            let found = try await reader.next { (error) throws(StorageError) in
                let error = error.forSubscribers
                // Before the first value, what SQLite refuses is the question itself.
                if old == nil, error.isFinal || error.code == .database { throw error }
                onError(error)
            }
            guard let found else { return nil }
            let known = state.withLock { state in
                defer { state.known = nil }
                return state.known
            }
            if let known { old = await value(at: known) }
            state.withLock { $0.last = found.value }
            if found.value != old { return (old, found.value, found.position) }
        }
    }

    /// What the consumer has; nil where that isn't known for certain.
    ///
    /// Rows whose order the statement leaves open may be there in another order. So the closure runs once more on tables whose rows
    /// come the other way round: what is the same then doesn't depend on it.
    private func value(at known: KnownState) async -> Value? {
        guard let region = reader.region, !region.isUnknown, region.searched.isEmpty else { return nil }
        let interests = region.entities.map { Interest(entity: $0, predicate: nil) }
        let found = Mutex<Value?>(nil)
        do {
            let isRead = try await storage.subscriptions.source.readPast(at: known, of: interests) { [body] state in
                let catalog = try Catalog.load(state.log)
                guard try Catalog.load(state.log, at: state.position) == catalog else { return }
                let value = try body(state.rows)
                guard try Self.turnRound(region.entities.compactMap(catalog.entity(named:)), in: state.rows) else {
                    return
                }
                guard try body(state.rows) == value else { return }
                found.withLock { $0 = value }
            }
            return isRead ? found.withLock { $0 } : nil
        } catch {
            // What can't be read there is sent whole. Where the present can't be read either, its reader says so.
            return nil
        }
    }

    /// Puts a temporary view in front of each table that returns its rows from the last to the first. LIMIT keeps SQLite from leaving
    /// out an order that it takes to be of no use.
    ///
    /// - Returns: False where that isn't possible, or where an index may turn round groups, which come in order otherwise.
    private static func turnRound(_ entities: [CatalogEntity], in db: Database) throws -> Bool {
        try db.execute(sql: "PRAGMA query_only = OFF")
        for entity in entities {
            let isTurned = entity.definition.contains { $0.uppercased().contains("DESC") }
            guard !isTurned, let rowid = entity.rowidName else { return false }
            let table = quoted(entity.stored)
            let columns = (entity.live.map(\.stored) + ["_position"]).map(quoted).joined(separator: ", ")
            try db.execute(
                sql: """
                    CREATE TEMP VIEW \(table) AS SELECT \(columns), \(rowid) AS \(rowid) FROM main.\(table) \
                    ORDER BY \(rowid) DESC LIMIT -1
                    """)
        }
        db.clearSchemaCache()
        return true
    }
}
