internal import GRDB
internal import StorageCore
internal import StorageLog

extension Schema {
    /// Creates the table of a ``DiskCache``. It isn't an entity, so cached values aren't recorded in the log.
    public mutating func addKVCache(tableName: String = "kv_cache") {
        addStep("cache \(tableName)") { tx in
            guard !ReservedNames.isRefused(tableName) else {
                throw StorageError(
                    .invalidName, "A cache can't be named \"\(tableName)\".",
                    remedy: ReservedNames.remedy)
            }
            let table = quoted(tableName)
            // The index is also looked up by name, so that a store that has both isn't changed.
            let statements = [
                """
                CREATE TABLE IF NOT EXISTS \(table) (
                  key TEXT PRIMARY KEY, blob BLOB NOT NULL, updatedAt DATETIME NOT NULL, expiresAt DATETIME,
                  size INTEGER NOT NULL DEFAULT 0)
                """,
                "CREATE INDEX IF NOT EXISTS \(quoted("idx_\(tableName)_expiresAt")) ON \(table)(expiresAt)",
                // The sizes behind the values would be read by reading the values.
                "CREATE INDEX IF NOT EXISTS \(quoted("idx_\(tableName)_updatedAt")) ON \(table)(updatedAt, key, size)",
            ]
            for statement in statements { try tx.database.execute(sql: statement) }
        }
    }
}
