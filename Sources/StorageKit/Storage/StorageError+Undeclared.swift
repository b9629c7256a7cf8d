internal import GRDB
internal import StorageCore
internal import StorageLog

extension StorageError {
    /// Runs code that reads or changes an entity's table. If the table doesn't exist, the error says to declare the entity, or that
    /// another program has dropped it.
    ///
    /// - Parameter database: Nil in a write: a write looks for its tables before it begins, and may have dropped one itself.
    static func explaining<Result>(
        table: String, in database: GRDB.Database? = nil, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch {
            let error = wrapping(error)
            guard let missing = (error as? StorageError)?.missingTable,
                missing.lowercasedASCII == table.lowercasedASCII
            else { throw error }
            guard let database, database.configuration.readonly,
                let entity = try Catalog.load(database.connection).entity(stored: table)
            else { throw noEntity(table) }
            throw droppedTable(entity.name)
        }
    }
}
