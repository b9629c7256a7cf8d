internal import CSQLite
package import GRDB
package import StorageCore
package import StorageLog
internal import Synchronization

/// The tables of a store as they were after one position, each created in a temporary database when it is first requested.
///
/// Isolation: `Sendable`; its database serialises access. Only a sole owner may move it to another position.
package final class MaterializedSnapshot: Sendable {
    let currentPosition: Mutex<Int64>
    package var position: Int64 { currentPosition.withLock { $0 } }
    package let schema: SnapshotSchema
    /// The entities as a reader sees them: current, or as recorded.
    package let catalog: Catalog
    /// The entities as they were at the position that the snapshot was created for.
    let recordedCatalog: Catalog
    package let upcasts: [String: Upcast]
    /// Temporary: SQLite keeps it in memory while it is small, and deletes it when it is closed.
    package let database: DatabaseQueue
    let filled = Mutex<Set<UInt32>>([])
    /// Entities whose tables here lack the constraints of the store's.
    let unconstrained = Mutex<Set<UInt32>>([])
    let searchable = Mutex<Set<UInt32>>([])
    /// The position of the first delete whose undoing has replaced a row of another program's; the greatest number if there is none.
    let firstReplacement = Mutex(Int64.max)
    /// The numbers of rows of live tables, when they were first needed.
    let rowCounts = Mutex<[UInt32: Int64]>([:])
    /// The time that reads of views of live tables have taken.
    let timeOfViews = Mutex(Duration.zero)
    /// The numbers of reads that found few rows of an entity by their keys.
    let keyedReads = Mutex<[UInt32: Int]>([:])

    /// - Parameter upcasts: The program's conversions of columns, by their titles.
    package init(
        at position: Int64, of live: GRDB.Database, schema: SnapshotSchema, upcasts: [String: Upcast] = [:]
    ) throws {
        currentPosition = Mutex(position)
        self.schema = schema
        self.upcasts = upcasts
        var configuration = GRDB.Configuration()
        configuration.label = "StorageKit past"
        configuration.foreignKeysEnabled = false
        // An empty path is a temporary file, which SQLite creates only when memory runs short.
        let database = try DatabaseQueue(path: "", configuration: configuration)
        self.database = database
        let source = try live.connection
        // From the store, whose tables may have columns that no catalog knows: rows are copied from these tables.
        recordedCatalog = try Catalog.load(source, at: position)
        catalog = schema == .current ? try Catalog.load(source) : recordedCatalog
        try database.writeWithoutTransaction { db in
            let connection = try db.connection
            // The SQL of the store's tables and views runs here.
            connection.refuseAttachments()
            storage_set_defensive(connection.handle, 1)
            for name in ["storage_catalog", "storage_projection"] {
                guard let text = StoreLayout.objects.first(where: { $0.name == name })?.sql else {
                    throw StorageError.corruptLog("\(name) has no table")
                }
                try PreparedStatement(connection, text).execute()
            }
            try TableCopy(from: source, to: connection).run("storage_projection")
            // Readers of the temporary database find the names of its tables there.
            switch schema {
            case .current: try TableCopy(from: source, to: connection).run("storage_catalog")
            case .asRecorded:
                // A commit's changes of the schema apply to the whole commit.
                let last = try LogReader(source).lastPosition(ofCommitAt: position)
                let catalog = CatalogEntity.catalog
                let target = Fold.Target(
                    entity: catalog, table: catalog.stored, column: \.stored, tombstones: nil)
                try TableReplay(target: target, database: connection, source: source).applyEvents(through: last)
            }
        }
    }

    /// Creates the tables of the named entities that don't exist here yet.
    ///
    /// - Parameters:
    ///   - searched: Entities whose full-text index is created too.
    ///   - live: A connection of the store, inside a read.
    /// - Throws: `not-found` for a name that isn't an entity's.
    /// - Complexity: For each missing table, its rows and the events since ``position``, or the events until then, whichever is
    ///   less; nothing for the others.
    package func prepare(tables: [String], searching searched: [String] = [], from live: GRDB.Database) throws {
        try database.writeWithoutTransaction { try prepare(tables: tables, searching: searched, in: $0, from: live) }
    }

    /// Creates the tables of entities with the rows of the live ones, as another program may have left them; the log isn't read.
    package func copy(tables: [String], from live: GRDB.Database) throws {
        try database.writeWithoutTransaction { db in
            for table in tables { try copy(entity(named: table), in: db, from: live) }
        }
    }

    private func prepare(
        tables: [String], searching searched: [String], in db: GRDB.Database, from live: GRDB.Database
    ) throws {
        let entities = try (tables + searched).map(entity(named:))
        let missing = filled.withLock { ids in entities.filter { !ids.contains($0.id) } }
        if !missing.isEmpty {
            // Once for all of them: it costs as much as the whole catalog is long.
            let now = try Catalog.load(live.connection)
            for entity in missing { try fill(entity, as: now.entity(id: entity.id), in: db, from: live) }
        }
        for table in searched { try makeSearchable(entity(named: table), in: db) }
    }

    /// Runs `body` on the tables, after creating those of the named entities as ``prepare(tables:searching:from:)`` does.
    ///
    /// - Throws: The errors of `body`; `not-found` for a name that isn't an entity's.
    package func read<Result>(
        _ tables: [String] = [], searching searched: [String] = [], from live: GRDB.Database,
        _ body: (GRDB.Database) throws -> Result
    ) throws -> Result {
        try database.writeWithoutTransaction { db in
            try prepare(tables: tables, searching: searched, in: db, from: live)
            return try db.readOnly { try body(db) }
        }
    }

    /// The statements that create the views of a store, in their order.
    ///
    /// - Throws: `corrupt` for a view whose text creates something else, or has more than one statement.
    package static func views(of live: GRDB.Database) throws -> [SchemaStatement] {
        let select = try PreparedStatement(
            live.connection, "SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid")
        var views: [SchemaStatement] = []
        while try select.step() {
            views.append(try SchemaStatement(select.string(1), creating: .view, named: select.string(0)))
        }
        return views
    }

    /// Creates views with their current definition; the caller has to name the tables that they read.
    package func add(views: [SchemaStatement]) throws {
        guard !views.isEmpty else { return }
        try database.writeWithoutTransaction { db in
            let connection = try db.connection
            // A view that isn't valid in this schema is left out.
            for view in views { try? view.run(on: connection) }
            // GRDB caches the schema, and doesn't notice changes that it hasn't made.
            db.clearSchemaCache()
        }
    }

    /// Writes all tables, as they were, to a new file: a plain SQLite database.
    package func write(to path: String, from live: GRDB.Database) throws {
        try prepare(tables: catalog.live.map(\.name), from: live)
        try database.writeWithoutTransaction { db in
            try db.connection.allowingAttachment { try db.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        }
    }

    /// Runs `body` after creating an entity's table and its full-text index.
    package func search<Result>(
        _ table: String, from live: GRDB.Database, _ body: (GRDB.Database) throws -> Result
    ) throws -> Result { try read([], searching: [table], from: live, body) }

    private func makeSearchable(_ entity: CatalogEntity, in db: GRDB.Database) throws {
        let connection = try db.connection
        guard !searchable.withLock({ $0.contains(entity.id) }),
            let index = try FullTextIndex.load(connection).first(where: { $0.entity == entity.id })
        else { return }
        try PreparedStatement(connection, index.sql(catalog)).execute()
        let name = quoted(index.table)
        try PreparedStatement(connection, "INSERT INTO \(name)(\(name)) VALUES ('rebuild')").execute()
        searchable.withLock { _ = $0.insert(entity.id) }
    }

    func entity(named name: String) throws -> CatalogEntity {
        if let entity = catalog.entity(named: name) { return entity }
        let names = catalog.live.map(\.name)
        switch schema {
        case .current:
            throw StorageError(
                .notFound, "There is no entity \"\(name)\".",
                remedy: StorageError.existing(names) + " To read dropped entities, use schema: .asRecorded.")
        case .asRecorded:
            throw StorageError(
                .notFound, "There was no entity \"\(name)\" at position \(position).",
                remedy: names.isEmpty ? "There were none." : "Read one of these: \(names.joined(separator: ", ")).")
        }
    }
}
