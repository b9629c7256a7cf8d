internal import StorageCore

/// How the names begin that StorageKit gives to tables and indexes of its own, which are in the same file as users' tables, and the
/// names of what SQLite has built in.
package enum ReservedNames {
    /// Those of SQLite and of the log, which no table of a user may have.
    static let engine = ["storage_", "sqlite_"]
    /// Those of tables that modules make when they are first used: sync engines, hubs, query sources and caches, and the
    /// reconciliation of a table that was dropped and created again.
    ///
    /// A program may declare such a table, because its author knows what else is in the store. Where data names a table, as in an
    /// import or in a request to a hub, the table gets another name in SQLite.
    package static let modules = ["sync_", "hub_", "query_source_", "kv_cache", "idx_kv_cache_", "replaced "]
    /// Names of tables in some builds of SQLite, which neither SQLite nor StorageKit reads by itself. A program may use them, too.
    private static let optional: Set<String> = [
        "bytecode", "completion", "fts5vocab", "generate_series", "tables_used",
    ]

    /// Tables of SQLite that exist without a declaration, beside those that begin with `pragma_`.
    private static let builtIn: Set<String> = ["dbstat", "json_each", "json_tree", "jsonb_each", "jsonb_tree"]

    /// Whether SQLite has a table or a function with rows of that name, such as `pragma_table_info`, which a table of a user would
    /// hide.
    ///
    /// A file may have such a table already, so statements of our own qualify the name: for `temp.pragma_table_info`, SQLite looks
    /// for a table in the temporary schema only, then for the function.
    package static func isBuiltIn(_ name: String) -> Bool {
        begins(name, with: ["pragma_"]) || builtIn.contains(name.lowercasedASCII)
    }

    /// Whether no table of a user may have the name.
    package static func isRefused(_ name: String) -> Bool {
        name.isEmpty || begins(name, with: engine) || isBuiltIn(name)
    }

    /// The remedy for a name that is refused.
    package static let remedy = """
        Names that are empty, begin with storage_, sqlite_ or pragma_, or are those of tables that SQLite has built in, such as \
        json_each, are reserved; choose another.
        """

    /// Whether data may not choose the name for a table.
    package static func includes(_ name: String) -> Bool {
        isRefused(name) || begins(name, with: modules) || optional.contains(name.lowercasedASCII)
    }

    /// The attributes that sync engines and hubs give to commits, and read. Those of undo and revert begin with
    /// ``attributePrefix``.
    private static let attributes: Set<String> = ["sync.rows", "sync.expecting", "hub.producer", "hub.origin"]
    private static let attributePrefix = "storagekit."

    /// Checks the attributes that a program gives to a commit: with one of the library's, the commit would count as an undo, as
    /// fetched from a remote, or as another client's write.
    ///
    /// - Throws: `invalid-argument` for a name that is reserved.
    package static func check(attributes names: some Sequence<String>) throws {
        // The first by name, so that the message is the same in each run.
        let reserved = names.filter { $0.utf8.starts(with: attributePrefix.utf8) || attributes.contains($0) }
        guard let name = reserved.min() else { return }
        throw StorageError(
            .invalidArgument, "The attribute \"\(name)\" of a commit is reserved.",
            remedy: "Choose a name that isn't reserved and doesn't begin with \(attributePrefix)")
    }

    /// SQLite ignores the case of ASCII letters.
    private static func begins(_ name: String, with starts: [String]) -> Bool {
        let folded = name.lowercasedASCII
        return starts.contains { folded.hasPrefix($0) }
    }
}
