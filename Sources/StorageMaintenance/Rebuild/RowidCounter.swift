internal import CSQLite
internal import StorageCore
internal import StorageLog

/// The count of rowids that the table of an entity with AUTOINCREMENT has assigned.
///
/// SQLite keeps it in `sqlite_sequence`, and deletes it with the table. A table that replaces another must count on from there:
/// two rows with the same rowid would share a history.
struct RowidCounter {
    private let entity: CatalogEntity
    private let database: Connection

    init(of entity: CatalogEntity, _ database: Connection) {
        self.entity = entity
        self.database = database
    }

    /// The greatest rowid that the table has ever assigned, even to a deleted row; 0 if SQLite has counted none.
    func value() throws -> Int64 {
        guard try database.hasTable("sqlite_sequence") else { return 0 }
        let select = try PreparedStatement(database, "SELECT seq FROM sqlite_sequence WHERE name = ?1")
        select.bind(text: entity.stored, at: 1)
        return try select.step() ? select.integer(0) : 0
    }

    /// Makes the table assign only rowids greater than those of its rows and its tombstones. Does nothing for a table without
    /// AUTOINCREMENT.
    ///
    /// - Parameter earlier: The count of the table that it replaces, which may be greater: ignored inserts count too.
    func advance(atLeast earlier: Int64 = 0) throws {
        guard let key = try countedKey() else { return }
        let greatest = try max(earlier, greatestRow(by: key), greatestTombstone())
        // SQLite itself begins at 1.
        guard greatest > 0 else { return }
        // It has no row of its own where no row was inserted.
        for sql in [
            "INSERT INTO sqlite_sequence(name, seq) SELECT ?1, ?2 WHERE ?1 NOT IN (SELECT name FROM sqlite_sequence)",
            "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
        ] {
            let change = try PreparedStatement(database, sql)
            change.bind(text: entity.stored, at: 1)
            change.bind(greatest, at: 2)
            try change.execute()
        }
    }

    /// The key of a table with AUTOINCREMENT, which is one integer; nil for other tables.
    private func countedKey() throws -> CatalogColumn? {
        guard entity.key.count == 1, let key = entity.key.first else { return nil }
        var isCounted: Int32 = 0
        let code = sqlite3_table_column_metadata(
            database.handle, "main", entity.stored, key.stored, nil, nil, nil, nil, &isCounted)
        guard code == SQLITE_OK else { throw database.error(code) }
        return isCounted != 0 ? key : nil
    }

    private func greatestRow(by key: CatalogColumn) throws -> Int64 {
        let select = try PreparedStatement(
            database, "SELECT max(\(quoted(key.stored))) FROM \(quoted(entity.stored))")
        return try select.step() ? select.integer(0) : 0
    }

    private func greatestTombstone() throws -> Int64 {
        let select = try PreparedStatement(database, "SELECT key FROM storage_tombstone WHERE entity = ?1")
        select.bind(Int64(entity.id), at: 1)
        var greatest: Int64 = 0
        while try select.step() {
            guard case .integer(let rowid)? = try KeyCoding.decode(Array(select.bytes(0))).first else { continue }
            greatest = max(greatest, rowid)
        }
        return greatest
    }
}
