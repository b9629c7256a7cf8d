internal import StorageLog

extension LogWriter {
    /// Whether every reference from and to some tables is valid. Reads the tables and those that refer to them completely: for
    /// changes that were made with foreign keys off.
    func referencesAreSound(around tables: [String]) throws -> Bool {
        let changed = Set(tables.map(\.folded))
        let references = try statement(
            """
            SELECT m.name, f."table" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'
            """)
        var referring: Set<String> = []
        while try references.step() {
            let (child, parent) = (references.string(0), references.string(1))
            if changed.contains(child.folded) || changed.contains(parent.folded) { referring.insert(child) }
        }
        references.reset()
        for table in referring {
            let check = try statement("SELECT 1 FROM pragma_foreign_key_check(?1) LIMIT 1")
            check.bind(text: table, at: 1)
            defer { check.reset() }
            if try check.step() { return false }
        }
        return true
    }
}
