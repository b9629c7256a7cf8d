internal import StorageLog

extension LogWriter {
    /// Makes changes without those that would leave a reference to a row that isn't there: they are made again without such rows
    /// until no such reference is left.
    ///
    /// - Parameter attempt: Makes the changes, except those of some rows.
    /// - Returns: A conflict for each row that was left out. If the policy is to abort, none of the changes is left.
    func keepingReferences(
        _ policy: ConflictPolicy, _ attempt: (_ leftOut: Set<RowAddress>) throws -> Void
    ) throws -> [RevertConflict] {
        var leftOut: Set<RowAddress> = []
        var conflicts: [RevertConflict] = []
        let start = pendingEvents
        try statement("SAVEPOINT storage_references").execute()
        try attempt(leftOut)
        while hasUnresolvedReferences {
            let references = try InvalidReference.find(self, changedFrom: start)
            try statement("ROLLBACK TO storage_references").execute()
            let before = leftOut
            for reference in references {
                let causes = try reference.causes(self)
                guard let cause = causes.first(where: { !before.contains($0.row) }) else { continue }
                if leftOut.insert(cause.row).inserted { conflicts.append(cause.conflict) }
            }
            guard leftOut.count > before.count else {
                // Without another row to leave out the commit fails at its end.
                try attempt(leftOut)
                break
            }
            if policy == .abort { break }
            try attempt(leftOut)
        }
        try statement("RELEASE storage_references").execute()
        return conflicts
    }

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
