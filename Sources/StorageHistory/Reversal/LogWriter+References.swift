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

    /// Orders rows so that those that refer to others come before them: then each can be deleted in its turn, and none with a long
    /// chain of others. Of rows that refer to each other, one has to come before a row that refers to it.
    ///
    /// - Complexity: O(n log m) for n rows of tables with m rows.
    func referringFirst<Element>(_ elements: [Element], by row: (Element) -> RowAddress) throws -> [Element] {
        let rows = elements.map(row)
        let indices = Dictionary(rows.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var referred = [[Int]](repeating: [], count: rows.count)
        try forEachReference(among: rows) { constraint, referring, other in
            guard !constraint.hasNoAction, referring != other, let from = indices[referring], let to = indices[other]
            else { return }
            referred[from].append(to)
        }
        // Depth first: a row is done after all those to which it refers, so the last one that is done comes first.
        var done: [Int] = []
        var isVisited = [Bool](repeating: false, count: rows.count)
        for start in rows.indices.reversed() where !isVisited[start] {
            isVisited[start] = true
            var path = [(index: start, next: 0)]
            while let (index, next) = path.last {
                guard next < referred[index].count else {
                    done.append(index)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let other = referred[index][next]
                guard !isVisited[other] else { continue }
                isVisited[other] = true
                path.append((other, 0))
            }
        }
        return done.reversed().map { elements[$0] }
    }

    /// Calls `body` with each reference from one of some rows to one of them.
    ///
    /// - Complexity: O(n log m) for n rows of tables with m rows.
    func forEachReference(
        among rows: [RowAddress],
        _ body: (_ constraint: InvalidReference.Constraint, _ referring: RowAddress, _ referred: RowAddress) -> Void
    ) throws {
        let known = Set(rows)
        let tables = Dictionary(grouping: rows, by: \.entity)
        for constraint in try InvalidReference.constraints(self) {
            guard let child = catalog.entity(stored: constraint.table),
                let parent = catalog.entity(stored: constraint.parent), let referring = tables[child.id],
                tables[parent.id] != nil
            else { continue }
            let keys = parent.key.map { "p.\(quoted($0.stored))" }.joined(separator: ", ")
            let select = try PreparedStatement(
                database,
                """
                SELECT \(keys) FROM (SELECT * FROM \(quoted(child.stored)) WHERE \(RowLookup.condition(of: child))) AS c
                CROSS JOIN \(quoted(parent.stored)) AS p ON \(constraint.condition)
                """)
            for row in referring {
                for (index, value) in row.values.enumerated() { value.bind(to: select, at: Int32(index + 1)) }
                while try select.step() {
                    let key = parent.key.indices.map { ExactValue(select, column: Int32($0)) }
                    let referred = RowAddress(entity: parent.id, values: key)
                    if known.contains(referred) { body(constraint, row, referred) }
                }
                select.reset()
            }
        }
    }

    /// Whether every reference from and to some tables is valid. Reads the tables and those that refer to them completely: for
    /// changes that were made with foreign keys off.
    func referencesAreSound(around tables: [String]) throws -> Bool {
        let changed = Set(tables.map(\.folded))
        let references = try statement(
            """
            SELECT m.name, f."table" FROM sqlite_schema AS m, temp.pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'
            """)
        var referring: Set<String> = []
        while try references.step() {
            let (child, parent) = (references.string(0), references.string(1))
            if changed.contains(child.folded) || changed.contains(parent.folded) { referring.insert(child) }
        }
        references.reset()
        for table in referring {
            let check = try statement("SELECT 1 FROM temp.pragma_foreign_key_check(?1) LIMIT 1")
            check.bind(text: table, at: 1)
            defer { check.reset() }
            if try check.step() { return false }
        }
        return true
    }
}
