internal import StorageCore
package import StorageLog

/// A connection from which whole rows are read: the store's writer, or a read-only one.
package protocol RowSource: AnyObject {
    var database: Connection { get }
    /// The entities in the current schema.
    var catalog: Catalog { get }
    /// A cached prepared statement.
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
