internal import StorageCore
internal import StorageLog
internal import StorageViews

extension StorageError {
    /// Runs code that reads or changes an entity's table. If the table doesn't exist, the error says to declare the entity.
    static func explaining<Result>(table: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            guard let error = wrapping(error) as? StorageError, let missing = error.missingTable,
                missing.lowercasedASCII == table.lowercasedASCII
            else { throw error }
            throw noEntity(table)
        }
    }
}
