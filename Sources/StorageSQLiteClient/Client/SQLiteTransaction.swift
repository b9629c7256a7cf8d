internal import StorageCore
public import StorageRecords

/// The connection of a body of ``SQLiteClient``, inside its transaction.
///
/// ```swift
/// let names = try await client.read { db in
///     try db.fetchAll("SELECT name FROM users WHERE age >= ?", [18], as: String.self)
/// }
/// ```
///
/// Not `Sendable`: it is valid until the body returns, on the thread that runs the body.
public struct SQLiteTransaction {
    /// The engine's side of the connection.
    public let connection: any SQLiteEngineConnection

    /// Creates a transaction on the connection of an engine of your own.
    public init(_ connection: any SQLiteEngineConnection) { self.connection = connection }

    /// Runs a statement, or several statements if there are no arguments.
    ///
    /// - Returns: The number of rows that the last statement changed, not counting changes by triggers and foreign
    ///   keys.
    /// - Throws: ``SQLiteClientError``: `constraint`, `read-only` if a reading body changes something, `sql` for
    ///   invalid SQL or a number of arguments that doesn't match the placeholders.
    @discardableResult
    public func execute(_ sql: String, _ arguments: [any StorageColumnValue] = []) throws -> Int {
        try connection.run(sql, arguments.map(\.storageValue)) { _ in true }
    }

    /// Passes the rows of a query to a closure, one after another. Only one row is in memory at a time.
    ///
    /// - Parameter body: Receives each row; returns false to stop.
    /// - Throws: As ``execute(_:_:)``; errors of the closure.
    public func forEachRow(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], onRow body: (SQLiteRow) throws -> Bool
    ) throws { try connection.run(sql, arguments.map(\.storageValue), onRow: body) }

    /// Returns a closure's result for each row of a query.
    ///
    /// - Throws: As ``execute(_:_:)``; errors of the closure.
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

    /// Returns the first column of each row of a query.
    ///
    /// - Throws: The errors of ``execute(_:_:)``; `StorageError` with `invalidValue` for a value that isn't of this
    ///   type.
    public func fetchAll<Value: StorageColumnValue>(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
    ) throws -> [Value] { try fetchAll(sql, arguments) { try $0.value(type, at: 0) } }

    /// Returns the rows of a query, decoded by column names.
    ///
    /// - Throws: As ``execute(_:_:)``; `DecodingError` for a row that doesn't match the type.
    @_disfavoredOverload
    public func fetchAll<Value: Decodable>(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
    ) throws -> [Value] { try fetchAll(sql, arguments) { try $0.decode(type) } }

    /// Returns the first column of the first row of a query; nil if there are no rows.
    ///
    /// - Throws: The errors of ``execute(_:_:)``; `StorageError` with `invalidValue` for a value that isn't of this
    ///   type.
    public func fetchOne<Value: StorageColumnValue>(
        _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
    ) throws -> Value? { try first(sql, arguments) { try $0.value(type, at: 0) } }

    /// Returns the first row of a query, decoded by column names; nil if there are no rows.
    ///
    /// - Throws: As ``execute(_:_:)``; `DecodingError` for a row that doesn't match the type.
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

    /// The rowid of the connection's last inserted row; 0 if there is none.
    public var lastInsertedRowID: Int64 { connection.lastInsertedRowID }

    /// Runs a part of the transaction as a savepoint: if it throws, only that part is rolled back, and the error is
    /// rethrown.
    ///
    /// - Throws: Errors of the body; ``SQLiteClientError``.
    @discardableResult
    public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("SAVEPOINT storage_client")
        do {
            let result = try body()
            try execute("RELEASE storage_client")
            return result
        } catch {
            // If SQLite has already rolled back the whole transaction, there is nothing left to undo.
            _ = try? execute("ROLLBACK TO storage_client; RELEASE storage_client")
            throw error
        }
    }
}
