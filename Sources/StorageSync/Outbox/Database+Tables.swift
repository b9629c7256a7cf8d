internal import GRDB

extension Database {
    /// Whether the store has a table. GRDB's `tableExists` also finds tables whose creation was rolled back.
    func hasTable(_ name: String) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?)"
        return try Bool.fetchOne(cachedStatement(sql: sql), arguments: [name]) ?? false
    }
}
