internal import CSQLite
package import StorageRecords

extension Connection {
    /// Opens an empty database in memory, where SQL of a schema can be tried. The caller closes it.
    package static func inMemory() throws -> Connection {
        let connection = try Connection(
            opening: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
            orFailWith: "no memory for a database")
        do {
            try DatabaseFile.registerTextDefinitions(on: connection)
        } catch {
            connection.close()
            throw error
        }
        return connection
    }
}
