public import GRDB
public import StorageCore
internal import StorageLog
public import StorageProjections

extension Storage {
    /// The store as it was at a point: for reading, with the entities as they were declared then.
    ///
    /// ```swift
    /// let before = try await storage.asOf(.position(receipt.first - 1))
    /// let old = try await before.get(User.self, id: "1")
    /// ```
    ///
    /// An entity's table is made from the log when it is first read, in a temporary database that is gone with the value;
    /// its cost grows with the history of that entity up to the point.
    ///
    /// - Throws: `not-found` for a point that isn't in the log.
    public func asOf(_ point: StoragePoint) async throws -> PastStorage {
        let engine = engine
        return try await engine.read { db in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            let position = try LogReader(connection).position(of: point)
            return PastStorage(engine: engine, state: try PastState(at: position, of: db))
        }
    }
}

/// A store as it was at one point of its history, to read from.
///
/// Isolation: `Sendable`; reads wait for each other.
public struct PastStorage: Sendable {
    private let engine: StorageEngine
    private let state: PastState

    init(engine: StorageEngine, state: PastState) {
        self.engine = engine
        self.state = state
    }

    /// The position after which this is the state of the store.
    public var position: Int64 { state.position }

    /// The entity that had this id then, nil where there was none.
    public func get<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> E? {
        let table = EntityTables.of(E.Record.self)
        let key = E.Record.key(of: id)
        return try await read(table.name) { db in try table.first(db, table.selectByKey) { try $0.bind(key, at: 1) } }
    }

    /// Every entity that there was then, in the order of a column; in the order of the key where none is named.
    public func all<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true
    ) async throws -> [E] {
        let table = EntityTables.of(E.Record.self)
        let order = try table.order(by: column, ascending: ascending)
        return try await read(table.name) { db in try table.entities(db, table.select + order) { _ in } }
    }

    /// How many entities there were then.
    public func count<E: RegisteredEntity>(_ type: E.Type) async throws -> Int {
        let name = E.Record.databaseTableName
        return try await read(name) { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM \(quoted(name))") ?? 0
        }
    }

    /// Runs SQL of your own on an entity's table as it was then.
    ///
    /// - Parameter table: The entity's name then. Other entities are there once they have been read.
    public func read<Result: Sendable>(
        _ table: String, _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        let state = state
        return try await engine.read { live in try state.read(table, from: live, body) }
    }
}
