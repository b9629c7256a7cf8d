internal import CSQLite
package import GRDB
internal import StorageCore
package import StorageLog

/// The tables of a store as they were after one position, made from the log in a temporary database, each when it is asked
/// for first.
///
/// Isolation: `Sendable`; its database serialises what is done with it.
package final class PastState: Sendable {
    package let position: Int64
    /// Temporary: SQLite keeps it in memory while it is small, and takes it away when it is closed.
    package let database: DatabaseQueue
    /// The entities as they were named and shaped then.
    package let catalog: Catalog

    package init(at position: Int64, of live: GRDB.Database) throws {
        self.position = position
        var configuration = GRDB.Configuration()
        configuration.label = "StorageKit past"
        configuration.foreignKeysEnabled = false
        let database = try DatabaseQueue(named: nil, configuration: configuration)
        self.database = database
        catalog = try database.writeWithoutTransaction { db in
            let connection = try Self.connection(db)
            try Statement(
                connection,
                "CREATE TABLE storage_tombstone(entity, key, position, PRIMARY KEY (entity, key)) WITHOUT ROWID"
            ).execute()
            guard let text = StoreLayout.objects.first(where: { $0.name == "storage_catalog" })?.sql else {
                throw StorageError.corruptLog("the catalog has no table")
            }
            try Statement(connection, text).execute()
            try Self.fold(.catalog, into: connection, from: live, through: position)
            return try Catalog.load(connection)
        }
    }

    /// Runs `body` on the tables of then, after making those of `table`.
    package func read<Result>(
        _ table: String, from live: GRDB.Database, _ body: (GRDB.Database) throws -> Result
    ) throws -> Result {
        try database.writeWithoutTransaction { db in
            guard let entity = catalog.entity(named: table) else {
                throw StorageError(
                    .notFound, "There was no entity \"\(table)\" at position \(position).",
                    remedy: "There was \(catalog.live.map(\.name).joined(separator: ", ")).")
            }
            // Asked of SQLite itself: GRDB remembers schemas that it hasn't made.
            let exists = try Statement(
                Self.connection(db), "SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE")
            exists.bind(text: entity.stored, at: 1)
            if try !exists.step() { try make(entity, db, from: live) }
            exists.reset()
            return try body(db)
        }
    }

    private func make(_ entity: CatalogEntity, _ db: GRDB.Database, from live: GRDB.Database) throws {
        let connection = try Self.connection(db)
        try Statement(connection, "BEGIN").execute()
        do {
            let columns = entity.live.map { column in
                let type =
                    column.type.isEmpty || column.type == Double.columnType || !column.coding.isEmpty
                    ? "" : " \(quoted(column.type))"
                let fallback = column.fallback == .null ? "" : " DEFAULT \(ScratchTables.literal(column.fallback))"
                return quoted(column.stored) + type + fallback
            }
            let key = entity.key.map { quoted($0.stored) }.joined(separator: ", ")
            try Statement(
                connection,
                "CREATE TABLE \(quoted(entity.stored)) (\(columns.joined(separator: ", ")), _position, PRIMARY KEY (\(key)))"
            ).execute()
            try Self.fold(entity, into: connection, from: live, through: position)
            try Statement(connection, "COMMIT").execute()
        } catch {
            // The error that made it necessary is the one that matters.
            try? Statement(connection, "ROLLBACK").execute()
            throw error
        }
    }

    private static func fold(
        _ entity: CatalogEntity, into connection: OpaquePointer, from live: GRDB.Database, through position: Int64
    ) throws {
        guard position > 0 else { return }
        let target = Fold.Target(
            entity: entity, table: quoted(entity.stored), column: { quoted($0.stored) }, tombstones: "storage_tombstone"
        )
        let fold = Fold(connection, targets: [target], checks: false)
        try LogReader(Self.connection(live)).forEachBatch(in: 1...position, where: fold.wants) { batch in
            try fold.apply(batch, in: 1...position)
            return true
        }
    }

    private static func connection(_ db: GRDB.Database) throws -> OpaquePointer {
        guard let connection = db.sqliteConnection else { throw StorageError.closed() }
        return connection
    }
}
