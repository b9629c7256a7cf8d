internal import CSQLite
package import GRDB
internal import StorageCore
internal import StorageLog

/// Reads a table as it was shortly before the end of the log, without a copy of it: as a view of the live table, over which the rows that
/// have changed since are laid.
///
/// It costs as much as these events and what the query itself takes. A view has no rowid, and an index can't be named for it; a table of
/// ``MaterializedSnapshot`` has both.
///
/// Not `Sendable`: it is made for one read.
package struct LiveOverlay {
    /// The table can't be read this way.
    struct Unsupported: Error {}

    private let connection: Connection
    private let position: Int64
    private let head: Int64

    /// The events after the position, at most.
    static let maximumDistance: Int64 = 1_024

    /// Runs `body` on one state of the store, in which an entity's table is as it was. There is no other table of the store's.
    ///
    /// - Parameters:
    ///   - entity: One that had the same columns as now.
    ///   - live: A connection of the store, inside a read.
    /// - Throws: ``Unsupported`` before `body` runs; what `body` throws.
    static func read<Result>(
        _ entity: CatalogEntity, at position: Int64, of live: GRDB.Database, _ body: (GRDB.Database) throws -> Result
    ) throws -> Result {
        var configuration = GRDB.Configuration()
        configuration.label = "StorageKit recent past"
        configuration.foreignKeysEnabled = false
        let source = try live.connection
        return try DatabaseQueue(path: "", configuration: configuration).writeWithoutTransaction { db in
            let connection = try db.connection
            // The SQL of the store's tables runs here.
            storage_set_defensive(connection.handle, 1)
            connection.refuseAttachments()
            guard AttachedStore.attach(source, to: connection) else { throw Unsupported() }
            try PreparedStatement(connection, "BEGIN").execute()
            // The database isn't used again.
            defer { try? PreparedStatement(connection, "ROLLBACK").execute() }
            do {
                let overlay = try LiveOverlay(db, at: position, of: source)
                try overlay.add(entity)
                try overlay.hideTables(besides: entity)
            } catch let error as StorageError where !error.endsRead {
                throw Unsupported()
            }
            // GRDB caches the schema, and doesn't notice changes that it hasn't made.
            db.clearSchemaCache()
            return try db.readOnly { try body(db) }
        }
    }

    private struct Names {
        let view: String
        let live: String
        /// The table of the rows that have changed, as they were. By the view's name, `main` would seem to have few rows.
        var past: String { "main.\(nameOfPast)" }
        let nameOfPast: String
        /// The rowids of the live rows that have changed.
        let changed: String
        /// These rows.
        let outdated: String

        init(of table: String) {
            view = quoted(table)
            live = "\(AttachedStore.name).\(quoted(table))"
            nameOfPast = quoted("storage_past_\(table)")
            changed = "main.\(quoted("storage_changed_\(table)"))"
            outdated = "temp.\(quoted("storage_outdated_\(table)"))"
        }
    }

    /// The sources, in SQL, whose numbers of rows add up to that of the view of a table. SQLite counts the rows of a table many times faster
    /// than those of the view.
    ///
    /// - Parameter db: The database that a read is in.
    /// - Returns: nil if the table isn't a view.
    package static func countedSources(
        of table: String, in db: GRDB.Database
    ) throws -> (added: [String], subtracted: [String])? {
        let isView = try Bool.fetchOne(
            db, sql: "SELECT 1 FROM temp.sqlite_schema WHERE type = 'view' AND name = ? COLLATE NOCASE",
            arguments: [table])
        guard isView == true else { return nil }
        let names = Names(of: table)
        return ([names.live, names.past], [names.outdated])
    }

    private init(_ db: GRDB.Database, at position: Int64, of source: Connection) throws {
        self.position = position
        connection = try db.connection
        // The read of the attached store begins here. It may be later than that of `source`, whose schema has to be the same.
        head = try LogReader(connection).head().position
        guard position <= head, head - position <= Self.maximumDistance,
            try AttachedStore.schemaVersion(of: connection, in: AttachedStore.name)
                == AttachedStore.schemaVersion(of: source, in: "main")
        else { throw Unsupported() }
    }

    private func add(_ entity: CatalogEntity) throws {
        let names = Names(of: entity.stored)
        // An empty table with the exact SQL of the live one, so that it compares and sorts alike.
        guard let creation = try SchemaStatement.table(entity.stored, of: connection, in: AttachedStore.name) else {
            throw Unsupported()
        }
        try creation.run(on: connection)
        // SQLite changes a CHECK that contains the name, too.
        try PreparedStatement(
            connection, "ALTER TABLE main.\(names.view) RENAME TO \(names.nameOfPast)"
        ).execute()
        try PreparedStatement(connection, "CREATE TABLE \(names.changed)(id INTEGER PRIMARY KEY)").execute()
        if position < head {
            try copyChanged(entity, names)
            let target = Fold.Target(
                entity: entity, table: names.past, column: { quoted($0.stored) }, tombstones: nil)
            let replay = TableReplay(target: target, database: connection, source: connection)
            guard try replay.undoEvents(in: position + 1...head) else { throw Unsupported() }
        }
        let isUnchanged = try isEmpty(names.changed) && isEmpty(names.past)
        let unchanged = try "\(names.live) WHERE \(entity.rowid) NOT IN (SELECT id FROM \(names.changed))"
        let rows = isUnchanged ? names.live : "\(unchanged) UNION ALL SELECT * FROM \(names.past)"
        try PreparedStatement(connection, "CREATE TEMP VIEW \(names.view) AS SELECT * FROM \(rows)").execute()
        let outdated = try "\(names.live) WHERE \(entity.rowid) IN (SELECT id FROM \(names.changed))"
        try PreparedStatement(connection, "CREATE TEMP VIEW \(names.outdated) AS SELECT * FROM \(outdated)").execute()
    }

    /// SQLite would find other tables and views of the live store by their names.
    private func hideTables(besides entity: CatalogEntity) throws {
        let select = try PreparedStatement(
            connection,
            """
            SELECT name FROM \(AttachedStore.name).sqlite_schema WHERE type IN ('table', 'view') \
            AND name <> ?1 COLLATE NOCASE AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'storage\\_%' ESCAPE '\\' \
            ORDER BY rootpage <> 0
            """)
        select.bind(text: entity.stored, at: 1)
        var names: [String] = []
        while try select.step() { names.append(quoted(select.string(0))) }
        // Reading one says that there is no such table. The views of virtual tables come first: once there is one, SQLite reserves the names of
        // the tables behind it.
        for name in names {
            try PreparedStatement(connection, "CREATE TEMP VIEW \(name) AS SELECT * FROM main.\(name)").execute()
        }
    }

    private func isEmpty(_ table: String) throws -> Bool {
        try !PreparedStatement(connection, "SELECT 1 FROM \(table) LIMIT 1").step()
    }

    /// Copies the live rows of the keys that have events.
    private func copyChanged(_ entity: CatalogEntity, _ names: Names) throws {
        let rowid = try entity.rowid
        let find = try PreparedStatement(
            connection, "SELECT \(rowid) FROM \(names.live) WHERE \(RowLookup.condition(of: entity))")
        let note = try PreparedStatement(connection, "INSERT OR IGNORE INTO \(names.changed)(id) VALUES (?1)")
        let copy = try PreparedStatement(
            connection, "INSERT OR ABORT INTO \(names.past) SELECT * FROM \(names.live) WHERE \(rowid) = ?1")
        let positions = position + 1...head
        let isOfEntity = { (header: SegmentHeader) in header.entities.contains(entity.id) }
        try LogReader(connection).forEachBatch(in: positions, where: isOfEntity) { batch in
            try batch.withView { view in
                for index in 0..<view.count
                where positions.contains(batch.header.first + Int64(index)) && view.shape(of: index).entity == entity.id
                {
                    let key = view.key(of: index)
                    for part in entity.key.indices { find.bind(key[part], bytes: view.bytes, at: Int32(part + 1)) }
                    while try find.step() {
                        try note.run(find.integer(0))
                        if note.changes == 1 { try copy.run(find.integer(0)) }
                    }
                    find.reset()
                }
            }
            return true
        }
    }
}
