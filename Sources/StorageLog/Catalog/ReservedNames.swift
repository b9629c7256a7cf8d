internal import StorageCore

/// How the names begin that StorageKit gives to tables and indexes of its own, which are in the same file as users' tables.
package enum ReservedNames {
    /// Those of SQLite and of the log, which no table of a user may have.
    static let engine = ["storage_", "sqlite_"]
    /// Those of tables that modules make when they are first used: sync engines, hubs, query sources and caches, and the
    /// reconciliation of a table that was dropped and created again.
    ///
    /// A program may declare such a table, because its author knows what else is in the store. Where data names a table, as in an
    /// import or in a request to a hub, the table gets another name in SQLite.
    package static let modules = ["sync_", "hub_", "query_source_", "kv_cache", "idx_kv_cache_", "replaced "]

    /// Whether no table of a user may have the name.
    package static func isRefused(_ name: String) -> Bool { name.isEmpty || begins(name, with: engine) }

    /// Whether data may not choose the name for a table.
    package static func includes(_ name: String) -> Bool { isRefused(name) || begins(name, with: modules) }

    /// SQLite ignores the case of ASCII letters.
    private static func begins(_ name: String, with starts: [String]) -> Bool {
        let folded = name.lowercasedASCII
        return starts.contains { folded.hasPrefix($0) }
    }
}
