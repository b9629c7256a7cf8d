internal import StorageLog

extension LogWriter {
    /// Makes changes without those that would leave a reference to a row that isn't there: they are made again without such rows
    /// until no such reference is left. Rows that depend on one that is left out are left out together with it: else each row of a
    /// chain of references would take an attempt of its own.
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
            var dependents = try policy == .abort ? DependentRows() : DependentRows(self, changedFrom: start)
            try statement("ROLLBACK TO storage_references").execute()
            try dependents.addReferredRows(self)
            let before = leftOut
            var causes = try references.compactMap { reference in
                try reference.causes(self).first { !before.contains($0.row) }
            }
            var next = 0
            while next < causes.count {
                let cause = causes[next]
                next += 1
                guard leftOut.insert(cause.row).inserted else { continue }
                conflicts.append(cause.conflict)
                causes += dependents.causes(of: cause.row, self)
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
