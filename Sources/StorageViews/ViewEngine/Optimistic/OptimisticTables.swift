package import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog
internal import StorageRecords

/// Makes a connection's tables read as if rows were stored.
///
/// A temporary view replaces each table: the table without the named rows, and those rows from a temporary table.
/// SQLite resolves temporary names first, so every statement reads the view. All of it is created in a savepoint that
/// is rolled back at the end; the store's file isn't written to.
package enum OptimisticTables {
    private static let savepoint = "storage_optimistic"

    /// Runs `body` while the tables contain these rows. If several name the same row, the last one counts.
    ///
    /// Rows of tables that don't exist are skipped, and so are values that can't be stored: saving them fails.
    ///
    /// - Parameter db: Inside of a transaction that reads.
    /// - Complexity: A few statements for each row. `body` walks through the whole table where it would without an index.
    package static func read<Result>(
        _ rows: [OptimisticRow], in db: GRDB.Database, _ body: () throws -> Result
    ) throws -> Result {
        guard !rows.isEmpty else { return try body() }
        let connection = try db.connection
        try connection.execute("SAVEPOINT \(savepoint)")
        let result: Result
        do {
            try connection.allowingTemporaryObjects { try make(rows, in: connection) }
            // GRDB caches the schema of tables.
            db.clearSchemaCache()
            result = try body()
        } catch {
            // The error that led here is the one that matters.
            try? rollBack(connection)
            db.clearSchemaCache()
            throw error
        }
        defer { db.clearSchemaCache() }
        try rollBack(connection)
        return result
    }

    private static func rollBack(_ connection: Connection) throws {
        do {
            try connection.execute("ROLLBACK TO \(savepoint); RELEASE \(savepoint)")
        } catch {
            // A reader's transaction is committed at its end whatever has happened, and others would read what is left.
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    private static func make(_ rows: [OptimisticRow], in connection: Connection) throws {
        let catalog = try Catalog.load(connection)
        var tables: [String: OptimisticTable] = [:]
        for row in rows {
            guard let entity = catalog.entity(named: row.name.table) else { continue }
            let table = try tables[row.name.table] ?? OptimisticTable(entity, key: row.keyColumn, in: connection)
            tables[row.name.table] = table
            try table.take(row)
        }
        for table in tables.values { try table.makeView() }
    }
}

/// The rows of one table that aren't stored yet.
private struct OptimisticTable {
    private let connection: Connection
    private let table: String
    private let rows: String
    private let key: String
    private let columns: String
    private let hasRowid: Bool
    private let rowid: String

    init(_ entity: CatalogEntity, key: String, in connection: Connection) throws {
        self.connection = connection
        self.key = quoted(key)
        table = quoted(entity.stored)
        rows = "temp.\(quoted("storage_optimistic_\(entity.id)"))"
        columns = (entity.live.map(\.stored) + ["_position"]).map(quoted).joined(separator: ", ")
        let rowid = entity.rowidName
        // A table WITHOUT ROWID has none.
        hasRowid =
            rowid.map { (try? PreparedStatement(connection, "SELECT \($0) FROM main.\(quoted(entity.stored))")) != nil }
            ?? false
        self.rowid = rowid ?? "NULL"
        let declarations = try UnconstrainedColumns.columns(of: entity, in: connection).joined(separator: ", ")
        try connection.execute(
            """
            CREATE TEMP TABLE \(quoted("storage_optimistic_\(entity.id)")) (
              \(declarations), _position, storage_rowid INTEGER, storage_deleted INTEGER NOT NULL DEFAULT 0,
              PRIMARY KEY (\(self.key)))
            """)
    }

    func take(_ row: OptimisticRow) throws {
        guard let write = row.write else {
            let delete = try PreparedStatement(
                connection,
                """
                INSERT INTO \(rows)(\(key), storage_deleted) VALUES (?1, 1)
                ON CONFLICT(\(key)) DO UPDATE SET storage_deleted = 1
                """)
            try delete.writer.bind(row.name.key, at: 1)
            return try delete.execute()
        }
        // Columns that the entity doesn't know stay as they are.
        let copy = try PreparedStatement(
            connection,
            """
            INSERT OR IGNORE INTO \(rows)(\(columns), storage_rowid)
            SELECT \(columns), \(hasRowid ? rowid : "NULL") FROM main.\(table) WHERE \(key) = ?1
            """)
        try copy.writer.bind(row.name.key, at: 1)
        try copy.execute()
        let names = row.columns.map(quoted)
        let save = try PreparedStatement(
            connection,
            """
            INSERT INTO \(rows)(\(names.joined(separator: ", ")), storage_deleted)
            VALUES (\(names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")), 0)
            ON CONFLICT(\(key)) DO UPDATE SET
            \((names + ["storage_deleted"]).map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
            """)
        do { try write(save.writer) } catch { return }
        try save.execute()
    }

    func makeView() throws {
        try connection.execute(
            """
            CREATE TEMP VIEW \(table) AS
            SELECT \(columns)\(hasRowid ? ", \(rowid) AS \(rowid)" : "") FROM main.\(table)
            WHERE \(key) NOT IN (SELECT \(key) FROM \(rows))
            UNION ALL
            SELECT \(columns)\(hasRowid ? ", storage_rowid" : "") FROM \(rows) WHERE NOT storage_deleted
            """)
    }
}
