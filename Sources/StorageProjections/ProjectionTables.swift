internal import CSQLite
internal import Foundation
internal import GRDB
internal import StorageCore
package import StorageLog

/// What the store remembers of a projection's own tables: the objects that its `prepare` made, with their exact SQL.
package struct ProjectionTables: Sendable, Equatable, Codable {
    package var entities: [String]
    /// Tables, indexes, views and triggers by their names, with the guards that keep others from writing.
    package var objects: [String: String]
    /// The tables among them.
    package var tables: [String]

    /// Descriptions of differences between the recorded objects and those in the file.
    package func findings(_ database: Connection) throws -> [String] {
        let found = try Self.objects(database)
        return objects.keys.sorted().compactMap { name in
            guard let sql = found[name] else { return "\(name) is missing" }
            return sql == objects[name] ? nil : "\(name) isn't what the projection made"
        }
    }

    /// Bytes of tables and indexes in the file.
    package func bytes(_ database: Connection) throws -> Int64 {
        let select = try PreparedStatement(
            database,
            """
            SELECT coalesce(sum(pgsize), 0) FROM temp.dbstat
            WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ?1) AND aggregate = TRUE
            """)
        var total: Int64 = 0
        for table in tables {
            select.bind(text: table, at: 1)
            if try select.step() { total += select.integer(0) }
            select.reset()
        }
        return total
    }

    private static func objects(_ database: Connection) throws -> [String: String] {
        let select = try PreparedStatement(database, "SELECT name, coalesce(sql, '') FROM sqlite_schema")
        var objects: [String: String] = [:]
        while try select.step() { objects[select.string(0)] = select.string(1) }
        return objects
    }
}

// MARK: Making and dropping

extension ProjectionTables {
    /// Creates a projection's tables, and adds guards to them.
    static func make(
        _ projection: any Projection, on writer: LogWriter, _ db: GRDB.Database
    ) throws -> ProjectionTables {
        let database = writer.database
        let before = try objects(database)
        let events = writer.pendingEvents
        try writer.asProjection { try projection.prepare(db) }
        guard writer.pendingEvents == events else { throw StorageError.projectionWrites(projection.name) }
        let after = try objects(database)
        for (name, sql) in before where after[name] != sql {
            throw StorageError(
                .invalidArgument, "The projection \(projection.name) changes \"\(name)\", which isn't its own.",
                remedy: "Let prepare only make new tables, indexes and views.")
        }
        for name in after.keys where before[name] == nil {
            guard name.lowercasedASCII.hasPrefix("storage_") || ReservedNames.isBuiltIn(name) else { continue }
            throw StorageError(
                .invalidName, "The projection \(projection.name) makes \"\(name)\".", remedy: ReservedNames.remedy)
        }
        let tables = try tables(database).filter { before[$0.name] == nil }
        let dependents = try PreparedStatement(
            database, "SELECT name, tbl_name FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL")
        while try dependents.step() {
            let (name, table) = (dependents.string(0), dependents.string(1))
            guard before[name] == nil, !tables.contains(where: { $0.name.folded == table.folded }) else { continue }
            throw StorageError(
                .invalidArgument,
                "The projection \(projection.name) makes \(name) on \"\(table)\", which isn't its own.",
                remedy: "Create indexes and triggers of entities in a migration.")
        }
        for (number, table) in tables.enumerated() where table.isPlain {
            for operation in ["INSERT", "UPDATE", "DELETE"] {
                let name = "storage_guard_\(projection.name)_\(number)_\(operation.lowercased())"
                try PreparedStatement(
                    database, guardSQL(named: name, on: table.name, against: operation, of: projection.name)
                ).execute()
            }
        }
        db.clearSchemaCache()
        // SQLite's own tables and automatic indexes come and go with the others.
        let made = try objects(database).filter {
            before[$0.key] == nil && !$0.value.isEmpty && !$0.key.hasPrefix("sqlite_")
        }
        return ProjectionTables(entities: projection.entities, objects: made, tables: tables.map(\.name))
    }

    /// A trigger that lets only the projection write, also from a connection without the function, where it fails.
    private static func guardSQL(
        named name: String, on table: String, against operation: String, of projection: String
    ) -> String {
        """
        CREATE TRIGGER \(quoted(name)) BEFORE \(operation) ON \(quoted(table))
        WHEN storage_engine() IS NOT 2
        BEGIN SELECT RAISE(ABORT, 'only the projection \(projection) writes to its tables'); END
        """
    }

    /// The tables of the file in the order in which they can be dropped: virtual ones first, because they take others
    /// along.
    private static func tables(_ database: Connection) throws -> [(name: String, isPlain: Bool)] {
        let select = try PreparedStatement(
            database,
            """
            SELECT name, type FROM temp.pragma_table_list
            WHERE schema = 'main' AND type IN ('table', 'virtual', 'shadow') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            ORDER BY type <> 'virtual', name
            """)
        var tables: [(name: String, isPlain: Bool)] = []
        while try select.step() { tables.append((select.string(0), select.string(1) == "table")) }
        return tables
    }

    func drop(on writer: LogWriter, _ db: GRDB.Database) throws {
        try writer.asEngine { try drop(from: writer.database) }
        db.clearSchemaCache()
    }

    /// Takes them out of a file whose guards are open.
    package func drop(from database: Connection) throws {
        // Tables may refer to each other in any order.
        try PreparedStatement(database, "PRAGMA defer_foreign_keys = ON").execute()
        let kinds = try PreparedStatement(database, "SELECT type FROM sqlite_schema WHERE name = ?1")
        let order = tables + objects.keys.filter { !tables.contains($0) }.sorted()
        for name in order {
            kinds.bind(text: name, at: 1)
            let kind = try kinds.step() ? kinds.string(0) : nil
            kinds.reset()
            // Objects of a dropped table were dropped with it.
            guard let kind, ["table", "view", "index", "trigger"].contains(kind) else { continue }
            try PreparedStatement(database, "DROP \(kind.uppercased()) \(quoted(name))").execute()
        }
    }
}
