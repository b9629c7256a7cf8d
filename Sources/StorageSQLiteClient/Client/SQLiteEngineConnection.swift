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
    ///   - body: Answers false to be given no more rows.
    func run(_ sql: String, _ arguments: [StorageValue], _ body: (SQLiteRow) throws -> Bool) throws
    /// The tables that statements read.
    ///
    /// - Parameter sql: The statements; nil for every table that there is.
    func tables(readBy sql: String?) throws -> Set<String>
    /// Rows that the last statement has inserted, updated or deleted.
    var changes: Int { get }
    var lastInsertedRowID: Int64 { get }
}
