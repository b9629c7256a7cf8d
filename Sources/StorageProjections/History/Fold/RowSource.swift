internal import StorageCore
internal import StorageLog

/// A connection that whole rows are read from: the store's writer, or one that only reads.
protocol RowSource: AnyObject {
    var database: OpaquePointer { get }
    /// The entities as they are now.
    var catalog: Catalog { get }
    /// A prepared statement that is kept for the next time.
    func statement(_ sql: String) throws -> PreparedStatement
}

extension LogWriter: RowSource {}

/// A connection inside a read.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class ReadSource: RowSource {
    let database: OpaquePointer
    let catalog: Catalog
    private var statements: [String: PreparedStatement] = [:]

    init(_ database: OpaquePointer, catalog: Catalog) {
        self.database = database
        self.catalog = catalog
    }

    func statement(_ sql: String) throws -> PreparedStatement {
        if let known = statements[sql] { return known }
        let statement = try PreparedStatement(database, sql)
        statements[sql] = statement
        return statement
    }
}
