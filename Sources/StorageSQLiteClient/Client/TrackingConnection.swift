internal import StorageCore

/// A connection that records which tables its statements read.
///
/// Not `Sendable`: it belongs to one run of a body.
final class TrackingConnection: SQLiteEngineConnection {
    /// The engine's side.
    let connection: any SQLiteEngineConnection
    private var recorded: Set<String> = []
    private var statements: Set<String> = []
    /// Whether something was read without using this connection.
    private var isPassed = false

    init(_ connection: any SQLiteEngineConnection) { self.connection = connection }

    var lastInsertedRowID: Int64 { connection.lastInsertedRowID }

    func run(_ sql: String, _ arguments: [StorageValue], onRow body: (SQLiteRow) throws -> Bool) throws -> Int {
        statements.insert(sql)
        return try connection.run(sql, arguments, onRow: body)
    }

    func tables(readBy sql: String?) throws -> Set<String> { try connection.tables(readBy: sql) }

    func record(_ tables: Set<String>) { recorded.formUnion(tables) }

    /// The engine's side, for reads that don't use this connection.
    func passed() -> any SQLiteEngineConnection {
        isPassed = true
        return connection
    }

    func tables() throws -> Set<String> {
        if isPassed { return try connection.tables(readBy: nil) }
        return try statements.reduce(into: recorded) { $0.formUnion(try connection.tables(readBy: $1)) }
    }
}
