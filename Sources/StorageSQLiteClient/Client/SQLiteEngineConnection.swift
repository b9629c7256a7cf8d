public import StorageCore

/// What an engine does for ``SQLiteTransaction``: the one requirement beside ``SQLiteClient`` itself for an engine of your own.
///
/// Not `Sendable`: it is used by one thread, for the length of a body.
public protocol SQLiteEngineConnection {
    /// Runs a statement to its end and hands its rows to a closure.
    ///
    /// - Parameters:
    ///   - sql: One statement; several are run one after another where there are no arguments.
    ///   - arguments: As many as the statement has placeholders.
    ///   - body: Gets each row; returns false to stop.
    /// - Returns: How many rows the last statement has inserted, updated or deleted by itself; 0 where it is none that does.
    @discardableResult
    func run(_ sql: String, _ arguments: [StorageValue], onRow body: (SQLiteRow) throws -> Bool) throws -> Int
    /// The tables that statements read.
    ///
    /// - Parameter sql: The statements; nil for every table that there is.
    func tables(readBy sql: String?) throws -> Set<String>
    var lastInsertedRowID: Int64 { get }
}
