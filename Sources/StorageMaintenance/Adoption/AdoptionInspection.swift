internal import CSQLite
internal import Foundation
internal import GRDB
internal import StorageCore
package import StorageLog

/// Checks whether the tables of a database can have a history. Changes nothing.
///
/// Not `Sendable`: it belongs to the connection's thread.
package struct AdoptionInspection {
    private let database: Connection
    private let catalog: Catalog
    private let progress: (_ rows: Int64) throws -> Void
    /// Rows between two calls of `progress`.
    private static let progressInterval: Int64 = 4_096

    /// - Parameter catalog: The catalog of the store; nil if it has to be read, or the database isn't a store.
    package init(
        _ database: Connection, catalog: Catalog? = nil, progress: @escaping (Int64) throws -> Void = { _ in }
    ) throws {
        self.database = database
        self.catalog = try catalog ?? (StoreFormat.isStore(database) ? Catalog.load(database) : Catalog())
        self.progress = progress
    }

    /// - Parameter names: The requested tables; empty for every table.
    /// - Throws: `not-found` for a table that doesn't exist, `conflict` for one that has a history already, and an
    ///   error if the database as a whole can't become a store.
    package func plan(_ names: [String]) throws -> AdoptionPlan {
        var plan = AdoptionPlan()
        try checkDatabase(&plan)
        let found = try tables(names)
        for name in names where !found.contains(where: { $0.name.folded == name.folded }) {
            if catalog.entity(stored: name) != nil {
                throw StorageError(
                    .conflict, "\"\(name)\" has a history already.",
                    remedy: "Name other tables, or none for all the rest.")
            }
            throw StorageError(
                .notFound, "There is no table \"\(name)\".",
                remedy: StorageError.existing(try tables().map(\.name), none: "There is none without a history."))
        }
        let dependents = try ColumnDependents(database)
        let wanted = Set(names.map(\.folded))
        var read: Int64 = 0
        for table in found where wanted.isEmpty || wanted.contains(table.name.folded) {
            plan.tables.append(try inspect(table, dependents, read: &read))
        }
        return plan
    }

    private struct Found {
        let name: String
        let type: String
        let isWithoutRowid: Bool
        let columnCount: Int
    }

    /// - Parameter names: The requested tables. Only a single one is looked up; otherwise all tables are returned.
    private func tables(_ names: [String] = []) throws -> [Found] {
        // A program that adopts one table after another would list all of them for each.
        let source = names.count == 1 ? "temp.pragma_table_list(?1)" : "temp.pragma_table_list"
        let select = try PreparedStatement(
            database,
            """
            SELECT name, type, wr, ncol FROM \(source)
            WHERE schema = 'main' AND type IN ('table', 'virtual', 'shadow') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            ORDER BY name
            """)
        if names.count == 1 { select.bind(text: names[0], at: 1) }
        let recorded = Set(catalog.entities.filter { !$0.isDropped }.map(\.stored.folded))
        var tables: [Found] = []
        while try select.step() {
            let name = select.string(0)
            if !catalog.entities.isEmpty, name.isReservedName { continue }
            if recorded.contains(name.folded) { continue }
            tables.append(
                Found(
                    name: name, type: select.string(1), isWithoutRowid: select.integer(2) != 0,
                    columnCount: Int(select.integer(3))))
        }
        return tables
    }
}

// MARK: The database

extension AdoptionInspection {
    private func checkDatabase(_ plan: inout AdoptionPlan) throws {
        let encoding = try PreparedStatement(database, "PRAGMA encoding")
        if try encoding.step(), encoding.string(0) != "UTF-8" {
            throw StorageError(
                .schemaMismatch,
                "The database keeps its texts as \(encoding.string(0)), and a store keeps them as UTF-8.",
                remedy: "Convert it first: sqlite3 OLD .dump | sqlite3 NEW")
        }
        if try !StoreFormat.isStore(database) {
            let names = try PreparedStatement(
                database, "SELECT name FROM sqlite_schema WHERE name LIKE 'storage\\_%' ESCAPE '\\' LIMIT 1")
            if try names.step() {
                throw StorageError(
                    .schemaMismatch, "The database has a table or index named \"\(names.string(0))\".",
                    remedy: "Names that begin with storage_ belong to StorageKit: rename it first.")
            }
            try DoubleQuotedTexts(database).check()
            let identity = try PreparedStatement(database, "PRAGMA application_id")
            if try identity.step(), identity.integer(0) != 0 {
                plan.notes.append(
                    "The file's application_id \(identity.integer(0)) is replaced by StorageKit's.")
            }
        }
        do {
            try checkForeignKeys(by: "PRAGMA foreign_key_check")
        } catch let error as StorageError where error.missingDefinition != nil {
            // A table whose foreign keys can't be checked isn't adopted.
            for table in try tables() where try missingDefinition(of: table.name, []) == nil {
                try checkForeignKeys(by: "PRAGMA foreign_key_check(\(quoted(table.name)))")
            }
        }
    }

    private func checkForeignKeys(by pragma: String) throws {
        do {
            let broken = try PreparedStatement(database, pragma)
            guard try broken.step() else { return }
            throw StorageError(
                .conflict,
                "A row of \"\(broken.string(0))\" refers to a row of \"\(broken.string(2))\" that isn't there.",
                remedy:
                    "A store keeps its foreign keys: delete or correct such rows first (PRAGMA foreign_key_check lists them)."
            )
        } catch let error as StorageError where error.message.contains("foreign key mismatch") {
            throw StorageError(
                .schemaMismatch, "A foreign key refers to columns that aren't a key: \(database.errorMessage).",
                remedy:
                    "A store enforces foreign keys: give the columns a UNIQUE index, or recreate the table without the key.",
                cause: error)
        }
    }
}

// MARK: Tables

extension AdoptionInspection {
    private func inspect(
        _ found: Found, _ dependents: ColumnDependents, read: inout Int64
    ) throws -> AdoptionPlan.Table {
        database.forgetCompiledStatements()
        var table = AdoptionPlan.Table(name: found.name)
        table.obstacle = Self.kindObstacle(found)
        guard table.obstacle == nil else { return table }
        let columns = try columns(of: found.name)
        table.key = columns.filter { $0.keyOrdinal > 0 }.sorted { $0.keyOrdinal < $1.keyOrdinal }.map(\.name)
        table.obstacle = try Self.columnObstacle(found.name, columns) ?? missingParent(of: found.name)
        table.obstacle = table.obstacle ?? dependents.obstacle(to: found.name)
        if table.obstacle == nil { table.obstacle = try missingDefinition(of: found.name, columns) }
        guard table.obstacle == nil else { return table }
        (table.rows, table.obstacle) = try inspectRows(found.name, columns, key: table.key, read: &read)
        return table
    }

    private static func kindObstacle(_ table: Found) -> AdoptionPlan.Obstacle? {
        if table.type == "virtual" {
            return .init(
                reason: "it is a virtual table",
                remedy: "No action: it stays, and its content tables can be recorded.",
                isExpected: true)
        }
        if table.type == "shadow" {
            return .init(reason: "it belongs to a virtual table", remedy: "No action: it stays.", isExpected: true)
        }
        if table.isWithoutRowid {
            return .init(
                reason: "it is WITHOUT ROWID, and history needs the rowid",
                remedy: "Recreate it without WITHOUT ROWID, copy the rows, then adopt it.")
        }
        if table.columnCount > Limits.columns {
            return .init(
                reason: "it has more than \(Limits.columns) columns", remedy: "Split it in two tables.")
        }
        return nil
    }

    private struct Column {
        let name: String
        let keyOrdinal: Int
        let isGenerated: Bool
    }

    private func columns(of table: String) throws -> [Column] {
        let select = try PreparedStatement(database, "SELECT name, pk, hidden FROM temp.pragma_table_xinfo(?)")
        select.bind(text: table, at: 1)
        var columns: [Column] = []
        while try select.step() {
            columns.append(
                Column(
                    name: select.string(0), keyOrdinal: Int(select.integer(1)), isGenerated: select.integer(2) != 0))
        }
        return columns
    }

    /// SQLite refuses every change of a table whose foreign key refers to no table.
    private func missingParent(of table: String) throws -> AdoptionPlan.Obstacle? {
        let select = try PreparedStatement(
            database,
            """
            SELECT k."table" FROM temp.pragma_foreign_key_list(?1) AS k
            WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema AS s WHERE s.type = 'table' AND s.name = k."table" COLLATE NOCASE)
            """)
        select.bind(text: table, at: 1)
        guard try select.step() else { return nil }
        return .init(
            reason: "its foreign key refers to \"\(select.string(0))\", and there is no such table",
            remedy: "Create that table, or recreate this one without the key: no row of it can be changed as it is.")
    }

    /// What the table uses and this process lacks: then SQLite refuses the table's changes, its check, and a new table like it.
    private func missingDefinition(of table: String, _ columns: [Column]) throws -> AdoptionPlan.Obstacle? {
        guard let missing = try missingInCheck(of: table) ?? missingInUse(of: table, columns) else { return nil }
        return .init(
            reason: "it uses \(missing), which isn't registered in this process",
            remedy:
                "Recreate it without, or let the program that registers \(missing) adopt it, by schema.adopt(\"\(table)\")."
        )
    }

    /// SQLite leaves `CHECK` out of the tables of a connection that only reads, so the table is created in memory there.
    private func missingInCheck(of table: String) throws -> String? {
        guard sqlite3_db_readonly(database.handle, "main") == 1 else { return nil }
        let select = try PreparedStatement(
            database,
            "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND sql NOT LIKE 'CREATE VIRTUAL%'")
        select.bind(text: table, at: 1)
        guard try select.step() else { return nil }
        let statement = try SchemaStatement(select.string(0), type: "table", named: table)
        do {
            // It has the collations and functions that GRDB registers on each connection.
            try DatabaseQueue().inDatabase { try statement.run(on: $0.connection) }
            return nil
        } catch let error as StorageError where !error.isOfTheMachine {
            return error.missingDefinition
        }
    }

    /// SQLite says what it lacks when it compiles a statement that needs it; the statements aren't run. The first three need the
    /// table's constraints, indexes and collations, the last one its defaults. Triggers aren't compiled with it: they aren't needed
    /// to rebuild the table.
    private func missingInUse(of table: String, _ columns: [Column]) throws -> String? {
        let name = quoted(table)
        let sorted = columns.map { quoted($0.name) }.joined(separator: ", ")
        // SQLite would check every table if it reads the name as a number. The INSERT needs the same definitions.
        let statements = [
            FileCheck.isReadAsNumber(table) ? nil : "PRAGMA integrity_check(\(name))",
            "PRAGMA foreign_key_check(\(name))",
            columns.isEmpty ? nil : "SELECT 1 FROM \(name) ORDER BY \(sorted)", "INSERT INTO \(name) DEFAULT VALUES",
        ]
        database.setTriggersEnabled(false)
        defer { database.setTriggersEnabled(true) }
        for sql in statements.compactMap({ $0 }) {
            do {
                _ = try PreparedStatement(database, sql)
            } catch let error as StorageError where !error.isOfTheMachine {
                if let missing = error.missingDefinition { return missing }
            }
        }
        return nil
    }

    /// SQLite's names of the rowid, each as long as no column has it.
    private static let rowidNames = ["rowid", "oid", "_rowid_"]

    private static func columnObstacle(_ table: String, _ columns: [Column]) -> AdoptionPlan.Obstacle? {
        if ([table] + columns.map(\.name)).contains("") {
            return .init(
                reason: table.isEmpty ? "its name is empty" : "it has a column whose name is empty",
                remedy: "Give it a name: an exported history can't be imported without.")
        }
        if ReservedNames.isBuiltIn(table) {
            return .init(
                reason: "its name is that of a table that SQLite has built in", remedy: "Rename it, then adopt it.")
        }
        if !columns.contains(where: { $0.keyOrdinal > 0 }) {
            return .init(
                reason: "it has no primary key, and rowids may change",
                remedy: "Recreate it with a column id INTEGER PRIMARY KEY, copy the rows, then adopt it.")
        }
        if columns.count(where: { $0.keyOrdinal > 0 }) > Limits.keyColumns {
            return .init(
                reason: "its key has more than \(Limits.keyColumns) columns",
                remedy: "Give it a column of its own as the key.")
        }
        if let column = columns.first(where: { $0.name.lowercasedASCII == "_position" }) {
            return .init(
                reason: "it has a column \"\(column.name)\", where history keeps the position of each row",
                remedy: "Rename the column.")
        }
        if let column = columns.first(where: \.isGenerated) {
            return .init(
                reason: "its column \"\(column.name)\" is generated", remedy: "Compute it in a view instead.")
        }
        if ([table] + columns.map(\.name)).contains(where: { $0.utf8.count > Limits.nameBytes }) {
            return .init(
                reason: "its name or that of a column is longer than \(Limits.nameBytes) bytes", remedy: "Shorten it.")
        }
        if Set(columns.map { $0.name.lowercasedASCII }).isSuperset(of: rowidNames) {
            return .init(
                reason: "its columns rowid, oid and _rowid_ hide SQLite's rowid", remedy: "Rename one of them.")
        }
        return nil
    }
}

// MARK: Rows

extension AdoptionInspection {
    /// Reads every row once, so that values that can't be recorded exactly are reported before anything is created.
    private func inspectRows(
        _ table: String, _ columns: [Column], key: [String], read: inout Int64
    ) throws -> (Int64, AdoptionPlan.Obstacle?) {
        // SQLite may read an index instead of the table, so the rowid isn't the number of rows read so far.
        let rowid = Self.rowidNames.first { name in !columns.contains { $0.name.lowercasedASCII == name } }
        let values = ([rowid ?? "NULL"] + columns.map { quoted($0.name) }).joined(separator: ", ")
        let select = try PreparedStatement(database, "SELECT \(values) FROM \(quoted(table))")
        var rows: Int64 = 0
        var obstacle: AdoptionPlan.Obstacle?
        while try select.step() {
            rows += 1
            read += 1
            if read % Self.progressInterval == 0 { try progress(read) }
            guard obstacle == nil else { continue }
            for (index, column) in columns.enumerated() {
                guard let reason = Self.problem(select, Int32(index + 1), isKey: column.keyOrdinal > 0) else {
                    continue
                }
                obstacle = .init(
                    reason: "its rowid \(select.integer(0)) \(reason.0) in \"\(column.name)\"", remedy: reason.1)
                break
            }
        }
        try progress(read)
        return (rows, obstacle)
    }

    private static func problem(_ row: PreparedStatement, _ column: Int32, isKey: Bool) -> (String, String)? {
        switch sqlite3_column_type(row.pointer, column) {
        case SQLITE_NULL:
            return isKey
                ? ("has NULL, which is part of the key", "Give such rows a key, or delete them.") : nil
        case SQLITE_TEXT:
            guard let start = sqlite3_column_text(row.pointer, column) else { return nil }
            let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(row.pointer, column)))
            if bytes.count > Limits.valueBytes { return Self.tooLarge }
            if memchr(start, 0, bytes.count) != nil {
                return ("has a text with a NUL character", "Remove the NUL, or keep the bytes as a blob.")
            }
            if String(validating: bytes, as: UTF8.self) == nil {
                return ("has a text that isn't UTF-8", "Correct it, or keep the bytes as a blob.")
            }
            return nil
        case SQLITE_BLOB:
            return Int(sqlite3_column_bytes(row.pointer, column)) > Limits.valueBytes ? Self.tooLarge : nil
        default: return nil
        }
    }

    private static let tooLarge = (
        "has a value of more than \(Limits.valueBytes) bytes", "Keep large content in files, and their names here."
    )
}
