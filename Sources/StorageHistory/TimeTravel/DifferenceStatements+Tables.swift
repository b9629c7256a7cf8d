internal import CSQLite
internal import StorageCore
internal import StorageLog

extension DifferenceStatements {
    /// A table that exists in both states.
    struct KeptTable {
        let from: CatalogEntity
        let to: CatalogEntity
        private let gone: [CatalogColumn]
        private let renames: [(old: String, new: String)]
        private let added: [CatalogColumn]

        init?(_ table: DifferenceTable) {
            guard let from = table.from, let to = table.to else { return nil }
            (self.from, self.to) = (from, to)
            gone = table.columns.compactMap { $0.isSame ? nil : $0.from }
            added = table.columns.compactMap { $0.isSame ? nil : $0.to }
            renames = RenamingSteps.steps(
                to.live.compactMap { new in from.live.first { $0.id == new.id }.map { ($0.stored, new.stored) } })
        }

        /// Whether columns are dropped or renamed, so that an index with the same text may be another one.
        var changesColumnNames: Bool { !gone.isEmpty || !renames.isEmpty }
        var isAltered: Bool { changesColumnNames || !added.isEmpty }

        /// The statements that alter the columns of the table, which has its new name, before any of its rows is changed.
        var alterations: [String] {
            get throws {
                let table = "ALTER TABLE \(quoted(to.stored))"
                // The last one first: its CHECK may name an earlier one.
                return gone.reversed().map { "\(table) DROP COLUMN \(quoted($0.stored));" }
                    + renames.map { "\(table) RENAME COLUMN \(quoted($0.old)) TO \(quoted($0.new));" }
                    + (try added.map { try SQLToken.script("\(table) ADD COLUMN \(definition(of: $0))") })
            }
        }

        /// A column's definition in the second state. If SQLite can't add it to a table with rows, as one that is `UNIQUE` or has to
        /// have a value, or a CHECK names other columns, the type and the default remain.
        private func definition(of column: CatalogColumn) throws -> String {
            if let own = TableSQL.definition(ofColumn: column.stored, in: to.definitions.table),
                try isAddable(own, column)
            {
                return own
            }
            let isOpen = column.isImported && column.storesNumbers
            // The catalog may hold another text than a type's.
            let isTyped = try !isOpen && isAddable("\(quoted(column.stored)) \(column.type)", column)
            let type = column.type.isEmpty || !isTyped ? "" : " \(column.type)"
            let fallback = column.defaultClause
            return quoted(column.stored) + type + (column.required && !fallback.isEmpty ? " NOT NULL" : "") + fallback
        }

        /// Whether SQLite adds a column to a table with a row, whatever the row's other columns hold: they get the values of the
        /// second state only later.
        private func isAddable(_ definition: String, _ column: CatalogColumn) throws -> Bool {
            let database = try Connection.inMemory()
            defer { database.close() }
            // CREATE TABLE then refuses the name of another column in double quotes, which ALTER TABLE would take for a text.
            storage_set_double_quoted_texts(database.handle, 0)
            let name = quoted(to.stored)
            do {
                for sql in [
                    "CREATE TABLE \(name)(storage_other, \(definition))", "DROP TABLE \(name)",
                    "CREATE TABLE \(name)(storage_other)", "INSERT INTO \(name) DEFAULT VALUES",
                    "ALTER TABLE \(name) ADD COLUMN \(definition)",
                ] { try PreparedStatement(database, sql).execute() }
                return true
            } catch let error as StorageError where !error.isOfTheMachine {
                return false
            }
        }
    }

    /// The indexes and triggers that the tables of both states have while the statements run.
    struct AttachedObjects {
        /// Their SQL, by their tables' ids.
        private var objects: [UInt32: [String]]

        /// Begins with those of the first state.
        init(_ tables: [KeptTable]) {
            objects = Dictionary(tables.map { ($0.to.id, $0.from.definitions.rest) }) { first, _ in first }
        }

        /// Calls `body` with the statements that drop some of them.
        ///
        /// - Parameter isGone: Whether to drop it; called with its SQL, and whether it is a trigger.
        mutating func drop(
            of table: KeptTable, where isGone: (_ sql: String, _ isTrigger: Bool) -> Bool,
            _ body: (String) throws -> Void
        ) throws {
            var rest: [String] = []
            for sql in objects[table.to.id] ?? [] {
                let object = try SchemaStatement(sql, attachedTo: table.from.name)
                guard isGone(sql, object.kind == .trigger) else {
                    rest.append(sql)
                    continue
                }
                try body("DROP \(object.kind.rawValue.uppercased()) IF EXISTS \(quoted(object.name));")
            }
            objects[table.to.id] = rest
        }

        /// Those that a table of the second state has in addition.
        func missing(of table: CatalogEntity) throws -> [SchemaStatement] {
            let present = Set((objects[table.id] ?? []).map(ExactText.init))
            return try table.statements.rest.filter { !present.contains(ExactText($0.sql)) }
        }
    }
}
