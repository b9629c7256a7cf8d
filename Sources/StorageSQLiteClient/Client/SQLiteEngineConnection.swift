public import StorageCore

/// The connection of an engine of your own, for ``SQLiteTransaction``: the only requirement beside ``SQLiteClient``
/// itself.
///
/// Not `Sendable`: it is used by one thread, for the length of a body.
public protocol SQLiteEngineConnection {
    /// Runs a statement to its end and passes its rows to a closure.
    ///
    /// - Parameters:
    ///   - sql: One statement; without arguments, several are run one after another.
    ///   - arguments: One for each placeholder of the statement.
    ///   - body: Receives each row; returns false to stop.
    /// - Returns: How many rows the last statement has inserted, updated or deleted directly; 0 for other statements.
    /// - Throws: ``SQLiteClientError``; errors of the closure.
    @discardableResult
    func run(_ sql: String, _ arguments: [StorageValue], onRow body: (SQLiteRow) throws -> Bool) throws -> Int
    /// Returns the tables that statements read.
    ///
    /// - Parameter sql: The statements; nil for all existing tables.
    /// - Throws: ``SQLiteClientError``.
    func tables(readBy sql: String?) throws -> Set<String>
    /// The rowid of the connection's last inserted row; 0 if there is none.
    var lastInsertedRowID: Int64 { get }
}
