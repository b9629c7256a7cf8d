internal import StorageCore
public import StorageRecords

/// The connection that a body of ``SQLiteClient`` works on, inside its transaction.
///
/// ```swift
/// let names = try await client.read { db in
///     try db.fetchAll("SELECT name FROM users WHERE age >= ?", [18], as: String.self)
/// }
/// ```
///
/// Not `Sendable`: it is valid until the body returns, on the thread that runs the body.
public struct SQLiteTransaction {
    /// The engine's own side of the connection.
    public let connection: any SQLiteEngineConnection

    public init(_ connection: any SQLiteEngineConnection) { self.connection = connection }

    /// Runs a statement, or several where there are no arguments.
    ///
    /// - Returns: How many rows the last statement changed; rows that triggers and foreign keys changed aren't counted.
    /// - Throws: ``SQLiteClientError``: `constraint`, `read-only` where a reading body changes something, `sql` for text that
    ///   SQLite doesn't take or arguments that aren't as many as its placeholders.
    @discardableResult
    public func execute(_ sql: String, _ arguments: [any StorageColumnValue] = []) throws -> Int {
        try connection.run(sql, arguments.map(\.storageValue)) { _ in true }
    }

    /// Hands the rows that a query finds to a closure, one after another. No more than one of them is in memory.
    ///
    /// - Parameter body: Answers false to be given no more rows.
    public func forEachRow(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], onRow body: (SQLiteRow) throws -> Bool
    ) throws { try connection.run(sql, arguments.map(\.storageValue), onRow: body) }

    /// What a closure makes of each row that a query finds.
    public func fetchAll<Value>(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], transform: (SQLiteRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try forEachRow(sql, arguments) {
            values.append(try transform($0))
            return true
        }
        return values
    }

    /// The first column of each row that a query finds.
    public func fetchAll<Value: StorageColumnValue>(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
    ) throws -> [Value] { try fetchAll(sql, arguments) { try $0.value(type, at: 0) } }

    /// Each row that a query finds, decoded by the names of its columns.
    @_disfavoredOverload
    public func fetchAll<Value: Decodable>(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
    ) throws -> [Value] { try fetchAll(sql, arguments) { try $0.decode(type) } }

    /// The first column of the first row that a query finds; nil where it finds none.
    public func fetchOne<Value: StorageColumnValue>(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
    ) throws -> Value? { try first(sql, arguments) { try $0.value(type, at: 0) } }

    /// The first row that a query finds, decoded by the names of its columns; nil where it finds none.
    @_disfavoredOverload
    public func fetchOne<Value: Decodable>(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
    ) throws -> Value? { try first(sql, arguments) { try $0.decode(type) } }

    private func first<Value>(
        _ sql: String, _ arguments: [any StorageColumnValue], transform: (SQLiteRow) throws -> Value
    ) throws -> Value? {
        var value: Value?
        try forEachRow(sql, arguments) {
            value = try transform($0)
            return false
        }
        return value
    }

    /// The rowid of the row that this connection inserted last; 0 where there was none.
    public var lastInsertedRowID: Int64 { connection.lastInsertedRowID }

    /// Runs a part of the transaction that is undone by itself where it throws; the error is thrown on.
    @discardableResult
    public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("SAVEPOINT storage_client")
        do {
            let result = try body()
            try execute("RELEASE storage_client")
            return result
        } catch {
            // Where SQLite has ended the whole transaction already, there is nothing left to undo.
            _ = try? execute("ROLLBACK TO storage_client; RELEASE storage_client")
            throw error
        }
    }
}
