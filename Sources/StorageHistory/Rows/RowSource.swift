internal import StorageCore
package import StorageLog

/// A connection that whole rows are read from: the store's writer, or one that only reads.
package protocol RowSource: AnyObject {
    var database: Connection { get }
    /// The entities as they are now.
    var catalog: Catalog { get }
    /// A prepared statement that is kept for the next time.
    func statement(_ sql: String) throws -> PreparedStatement
}

extension LogWriter: RowSource {}

/// A connection inside a read.
///
/// Not `Sendable`: it belongs to its connection's thread.
package final class ReadSource: RowSource {
    package let database: Connection
    package let catalog: Catalog
    private var statements: [String: PreparedStatement] = [:]

    package init(_ database: Connection, catalog: Catalog) {
        self.database = database
        self.catalog = catalog
    }

    package func statement(_ sql: String) throws -> PreparedStatement {
        if let known = statements[sql] { return known }
        let statement = try PreparedStatement(database, sql)
        statements[sql] = statement
        return statement
    }
}
