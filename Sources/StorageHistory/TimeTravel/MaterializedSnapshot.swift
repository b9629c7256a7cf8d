internal import CSQLite
package import GRDB
package import StorageCore
package import StorageLog
internal import Synchronization

/// The tables of a store as they were after one position, made in a temporary database, each when it is asked for first.
///
/// Isolation: `Sendable`; its database serialises what is done with it. Who moves it to another position must be the only
/// one who has it.
package final class MaterializedSnapshot: Sendable {
    private let currentPosition: Mutex<Int64>
    package var position: Int64 { currentPosition.withLock { $0 } }
    package let schema: SnapshotSchema
    /// The entities as a reader sees them: of now or of then.
    package let catalog: Catalog
    /// The entities as they were.
    private let recordedCatalog: Catalog
    private let upcasts: [String: Upcast]
    /// Temporary: SQLite keeps it in memory while it is small, and takes it away when it is closed.
    package let database: DatabaseQueue
    private let filled = Mutex<Set<UInt32>>([])
    /// Entities whose tables here have none of the constraints of the store's.
    private let loose = Mutex<Set<UInt32>>([])
    private let searchable = Mutex<Set<UInt32>>([])

    /// - Parameter upcasts: What the program's conversions of columns do, by their titles.
    package init(
        at position: Int64, of live: GRDB.Database, schema: SnapshotSchema, upcasts: [String: Upcast] = [:]
    ) throws {
        currentPosition = Mutex(position)
        self.schema = schema
        self.upcasts = upcasts
        var configuration = GRDB.Configuration()
        configuration.label = "StorageKit past"
        configuration.foreignKeysEnabled = false
        // An empty path is a temporary file, which SQLite makes only when memory runs short.
        let database = try DatabaseQueue(path: "", configuration: configuration)
        self.database = database
        let source = try live.connection
        (recordedCatalog, catalog) = try database.writeWithoutTransaction { db in
            let target = try db.connection
            for name in ["storage_catalog", "storage_projection"] {
                guard let text = StoreLayout.objects.first(where: { $0.name == name })?.sql else {
                    throw StorageError.corruptLog("\(name) has no table")
                }
                try PreparedStatement(target, text).execute()
            }
            try TableCopy(from: source, to: target).run("storage_projection")
            // What reads the temporary database finds the names of its tables there.
            switch schema {
            case .current: try TableCopy(from: source, to: target).run("storage_catalog")
            case .asRecorded:
                // A commit's changes of the schema hold for all of it.
                let last = try LogReader(source).lastPosition(ofCommitAt: position)
                let catalog = CatalogEntity.catalog
                try Self.replay(
                    Fold.Target(
                        entity: catalog, table: catalog.stored, column: \.stored, tombstones: nil), into: target,
                    from: source, through: last)
            }
            return (try Catalog.load(source, at: position), try Catalog.load(target))
        }
    }

    /// Makes the tables of the entities that are named, where they aren't there yet.
    ///
    /// - Parameters:
    ///   - searched: Entities of which the full-text index is made too.
    ///   - live: A connection of the store, inside a read.
    /// - Throws: `not-found` for a name that isn't an entity's.
    /// - Complexity: For each table that isn't there yet, its rows and the events since ``position``, or the events until
    ///   then, whichever is less; nothing for the others.
    package func prepare(tables: [String], searching searched: [String] = [], from live: GRDB.Database) throws {
        try database.writeWithoutTransaction { try prepare(tables: tables, searching: searched, in: $0, from: live) }
    }

    private func prepare(
        tables: [String], searching searched: [String], in db: GRDB.Database, from live: GRDB.Database
    ) throws {
        for table in tables + searched { try fill(entity(named: table), db, from: live) }
        for table in searched { try makeSearchable(entity(named: table), db) }
    }

    /// Runs `body` on the tables, after making those of the entities that are named, as
    /// ``prepare(tables:searching:from:)`` does.
    ///
    /// - Throws: What `body` throws, and `not-found` for a name that isn't an entity's.
    package func read<Result>(
        _ tables: [String] = [], searching searched: [String] = [], from live: GRDB.Database,
        _ body: (GRDB.Database) throws -> Result
    ) throws -> Result {
        try database.writeWithoutTransaction { db in
            try prepare(tables: tables, searching: searched, in: db, from: live)
            return try db.readOnly { try body(db) }
        }
    }

    /// The statements that make the views of a store, in their order.
    package static func views(of live: GRDB.Database) throws -> [String] {
        try String.fetchAll(live, sql: "SELECT sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid")
    }

    /// Makes views as they are now; what they read is for whoever asks to name.
    package func add(views: [String]) {
        guard !views.isEmpty else { return }
        database.writeWithoutTransaction { db in
            // A view that makes no sense then isn't there.
            for view in views { try? db.execute(sql: view) }
        }
    }

    /// Writes all tables, as they were, to a new file: a plain SQLite database.
    package func write(to path: String, from live: GRDB.Database) throws {
        try prepare(tables: catalog.live.map(\.name), from: live)
        try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
    }

    /// Runs `body` after making an entity's table and its full-text index.
    package func search<Result>(
        _ table: String, from live: GRDB.Database, _ body: (GRDB.Database) throws -> Result
    ) throws -> Result { try read([], searching: [table], from: live, body) }

    private func makeSearchable(_ entity: CatalogEntity, _ db: GRDB.Database) throws {
        let connection = try db.connection
        guard !searchable.withLock({ $0.contains(entity.id) }),
            let index = try FullTextIndex.load(connection).first(where: { $0.entity == entity.id })
        else { return }
        try PreparedStatement(connection, index.sql(catalog)).execute()
        let name = quoted(index.table)
        try PreparedStatement(connection, "INSERT INTO \(name)(\(name)) VALUES ('rebuild')").execute()
        searchable.withLock { _ = $0.insert(entity.id) }
    }

    private func entity(named name: String) throws -> CatalogEntity {
        if let entity = catalog.entity(named: name) { return entity }
        let names = catalog.live.map(\.name).joined(separator: ", ")
        switch schema {
        case .current:
            throw StorageError(
                .notFound, "There is no entity \"\(name)\".",
                remedy: "There is \(names); to read dropped entities, use schema: .asRecorded.")
        case .asRecorded:
            throw StorageError(
                .notFound, "There was no entity \"\(name)\" at position \(position).", remedy: "There was \(names).")
        }
    }
}

// MARK: Filling

extension MaterializedSnapshot {
    private func fill(_ entity: CatalogEntity, _ db: GRDB.Database, from live: GRDB.Database) throws {
        if filled.withLock({ $0.contains(entity.id) }) { return }
        let source = try live.connection
        let target = try db.connection
        let entity = try withDeclaredDefaults(entity, source)
        // An attempt that failed may have left it.
        loose.withLock { _ = $0.remove(entity.id) }
        try PreparedStatement(target, "BEGIN").execute()
        do {
            do {
                try make(entity, like: source, in: target)
                try fill(entity, in: target, from: source)
            } catch let error as StorageError where error.code == .conflict && !isLoose(entity) {
                // A row of the past may break a constraint that its table got later.
                try PreparedStatement(target, "DROP TABLE \(quoted(entity.stored))").execute()
                try makeLoose(entity, in: target)
                try fill(entity, in: target, from: source)
            }
            try PreparedStatement(target, "COMMIT").execute()
        } catch {
            // The error that made it necessary is the one that matters.
            try? PreparedStatement(target, "ROLLBACK").execute()
            throw error
        }
        // GRDB remembers schemas that it hasn't made.
        db.clearSchemaCache()
        filled.withLock { _ = $0.insert(entity.id) }
    }

    /// A column that came with a table made anew brought no default to the rows from before: their new values are events. What its
    /// declaration says stands for them before that.
    private func withDeclaredDefaults(_ entity: CatalogEntity, _ source: Connection) throws -> CatalogEntity {
        guard schema == .current, let past = recordedCatalog.entity(id: entity.id) else { return entity }
        var entity = entity
        let defaults = DefaultValues()
        let select = try PreparedStatement(
            source, "SELECT name, dflt_value, type FROM pragma_table_info(?1) WHERE dflt_value NOTNULL")
        select.bind(text: entity.stored, at: 1)
        while try select.step() {
            let name = try select.row.text(at: 0)
            guard let columnIndex = entity.columns.firstIndex(where: { !$0.isDropped && $0.stored == name }),
                entity.columns[columnIndex].fallback == .null, entity.columns[columnIndex].origin == 0,
                !past.columns.contains(where: { $0.id == entity.columns[columnIndex].id })
            else { continue }
            entity.columns[columnIndex].fallback = try defaults.value(
                of: select.string(1), type: select.string(2), isStrict: entity.isStrict)
        }
        return entity
    }

    /// An empty table with the very SQL of the live one, so that it compares and sorts like it.
    private func make(_ entity: CatalogEntity, like source: Connection, in target: Connection) throws {
        let select = try PreparedStatement(
            source, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE")
        select.bind(text: entity.stored, at: 1)
        guard schema == .current, try select.step() else { return try makeLoose(entity, in: target) }
        try PreparedStatement(target, select.string(0)).execute()
    }

    /// An empty table of the same columns without constraints. Its columns compare as those of the store do, and keep what
    /// events hold as it is: that has been through the column's affinity, which changes nothing the second time.
    ///
    /// Keys are compared by their bytes, as the log does it: what was one key to the collation of another time may be two.
    private func makeLoose(_ entity: CatalogEntity, in target: Connection) throws {
        let collations = try Self.collations(target)
        let columns = entity.live.map { column in
            let fallback = column.fallback == .null ? "" : " DEFAULT \(ScratchTables.literal(column.fallback))"
            let isCollated = column.collation != CatalogColumn.binary && collations.contains(column.collation)
            return quoted(column.stored) + type(of: column, in: entity)
                + (isCollated ? " COLLATE \(quoted(column.collation))" : "") + fallback
        }
        let key = entity.key.map { "\(quoted($0.stored)) COLLATE BINARY" }.joined(separator: ", ")
        try PreparedStatement(
            target,
            "CREATE TABLE \(quoted(entity.stored)) (\(columns.joined(separator: ", ")), _position, PRIMARY KEY (\(key)))"
        ).execute()
        loose.withLock { _ = $0.insert(entity.id) }
    }

    /// A type with the column's affinity.
    private func type(of column: CatalogColumn, in entity: CatalogEntity) -> String {
        switch column.affinity {
        case .blob: return ""
        case .integer:
            // INTEGER makes a key the row number, which other values than integers can't be.
            let isRowNumber = entity.key.count == 1 && column.type.lowercasedASCII == "integer"
            return isRowNumber || column.keyOrdinal == 0 ? " INTEGER" : " INT"
        case .text, .numeric, .real: return " \(column.affinity.rawValue)"
        }
    }

    private static func collations(_ database: Connection) throws -> Set<String> {
        let select = try PreparedStatement(database, "SELECT upper(name) FROM pragma_collation_list")
        var names: Set<String> = []
        while try select.step() { names.insert(select.string(0)) }
        return names
    }

    private func isLoose(_ entity: CatalogEntity) -> Bool { loose.withLock { $0.contains(entity.id) } }

    /// The entity's table by its own name, with no memory of deleted rows.
    private func target(_ entity: CatalogEntity) -> Fold.Target {
        Fold.Target(
            entity: entity, table: quoted(entity.stored), column: { quoted($0.stored) }, tombstones: nil,
            comparesBytes: isLoose(entity))
    }

    /// Undoes what happened since, or replays what happened until then: whichever touches less.
    private func fill(_ entity: CatalogEntity, in target: Connection, from source: Connection) throws {
        guard let past = recordedCatalog.entity(id: entity.id), !past.isDropped, position > 0 else { return }
        let now = try Catalog.load(source).entity(id: entity.id)
        let head = try LogReader(source).head().position
        let isThere = now?.stored == entity.stored && now?.isDropped == false
        let rows = isThere ? try Self.count(entity, in: source) : 0
        if isThere, now?.columns == past.columns {
            // Copying a row costs a fraction of decoding and applying an event.
            if rows / 4 + (head - position) < position {
                try TableCopy(from: source, to: target).run(entity.stored)
                return try Self.undo(
                    self.target(entity), in: target, from: source, positions: position + 1, head)
            }
        }
        let conversions = try conversions(of: entity, past: past)
        let olds = conversions.compactMap(\.old)
        let type = entity.isStrict && !isLoose(entity) ? " ANY" : ""
        for old in olds {
            try PreparedStatement(
                target, "ALTER TABLE \(quoted(entity.stored)) ADD COLUMN \(quoted(old.stored))\(type)"
            )
            .execute()
        }
        var reading = entity
        reading.columns += olds
        let isCollected =
            LatestRowStates.pays(reading, events: position, rows: rows)
            ? try Self.collect(reading, into: target, from: source, through: position) : false
        if !isCollected {
            try Self.replay(self.target(reading), into: target, from: source, through: position)
        }
        for conversion in conversions { try convert(conversion, of: entity, in: target) }
    }

    private static func count(_ entity: CatalogEntity, in database: Connection) throws -> Int64 {
        let count = try PreparedStatement(database, "SELECT count(*) FROM \(quoted(entity.stored))")
        return try count.step() ? count.integer(0) : 0
    }

    /// Fills the table with the newest image of each row.
    ///
    /// - Returns: Whether it did; not where there are too many rows.
    private static func collect(
        _ entity: CatalogEntity, into database: Connection, from source: Connection, through position: Int64
    ) throws -> Bool {
        let images = try LatestRowStates(database, entity)
        do {
            try LogReader(source).forEachBatch(in: 1...position, descending: true, where: images.wants) { batch in
                try images.apply(batch, through: position)
                return true
            }
        } catch is LatestRowStates.TooManyRows {
            try images.discard()
            return false
        }
        try images.finish(into: quoted(entity.stored))
        return true
    }

    private static func replay(
        _ target: Fold.Target, into database: Connection, from source: Connection, through position: Int64
    ) throws {
        guard position > 0 else { return }
        let fold = Fold(database, targets: [target], checks: false)
        try LogReader(source).forEachBatch(in: 1...position, where: fold.wants) { batch in
            try fold.apply(batch, in: 1...position)
            return true
        }
    }

    private static func undo(
        _ target: Fold.Target, in database: Connection, from source: Connection, positions first: Int64,
        _ last: Int64
    ) throws {
        guard first <= last else { return }
        let fold = Fold(database, targets: [target], checks: false, direction: .backward)
        try LogReader(source).forEachBatch(in: first...last, descending: true, where: fold.wants) { batch in
            try fold.apply(batch, in: first...last)
            return true
        }
    }
}

// MARK: Moving

extension MaterializedSnapshot {
    /// Takes the tables that were made already to another position, by doing or undoing the events in between.
    ///
    /// - Returns: Whether it could: not where the schema is another one there, or where making the tables anew is less work.
    package func move(to target: Int64, from live: GRDB.Database) throws -> Bool {
        let current = position
        guard target != current else { return true }
        guard (target - current).magnitude <= UInt64(max(target, 1_024)) else { return false }
        let source = try live.connection
        guard try Catalog.load(source, at: target) == recordedCatalog else { return false }
        // Who asked for the shape of now asked for that of a now which may be over.
        if schema == .current, try Catalog.load(source) != catalog { return false }
        let entities = try filled.withLock { ids in catalog.live.filter { ids.contains($0.id) } }
            .map { try withDeclaredDefaults($0, source) }
        // Columns whose values are converted hold what no event says.
        let isConverted = try entities.contains { entity in
            try recordedCatalog.entity(id: entity.id).map { try !conversions(of: entity, past: $0).isEmpty } ?? false
        }
        if isConverted { return false }
        let isMoved = try database.writeWithoutTransaction { db in
            let connection = try db.connection
            try PreparedStatement(connection, "BEGIN").execute()
            do {
                let fold = Fold(
                    connection, targets: entities.map(self.target), checks: false,
                    direction: target > current ? .forward : .backward)
                let positions = min(target, current) + 1...max(target, current)
                try LogReader(source).forEachBatch(
                    in: positions, descending: target < current, where: fold.wants
                ) { batch in
                    try fold.apply(batch, in: positions)
                    return true
                }
                // An index of other rows would answer wrong; it is made again when somebody searches.
                let indexed = searchable.withLock { $0 }
                for index in try FullTextIndex.load(connection) where indexed.contains(index.entity) {
                    try PreparedStatement(connection, "DROP TABLE \(quoted(index.table))").execute()
                }
                try PreparedStatement(connection, "COMMIT").execute()
            } catch {
                // The error that made it necessary is the one that matters.
                try? PreparedStatement(connection, "ROLLBACK").execute()
                // A row of the past may break a constraint that its table got later: then the tables are made again.
                if let error = error as? StorageError, error.code == .conflict { return false }
                throw error
            }
            db.clearSchemaCache()
            return true
        }
        guard isMoved else { return false }
        currentPosition.withLock { $0 = target }
        searchable.withLock { $0.removeAll() }
        return true
    }
}

// MARK: Converting

extension MaterializedSnapshot {
    /// A column of now whose values were those of another column then.
    private struct Conversion {
        let column: CatalogColumn
        /// The column of then, under a name that nothing else has; nil where all of it came later.
        let old: CatalogColumn?
        /// What the first of the columns held in rows from before it.
        let fallback: StorageValue
        /// What leads from then to now.
        let steps: [Upcast]
    }

    private func conversions(of entity: CatalogEntity, past: CatalogEntity) throws -> [Conversion] {
        guard schema == .current else { return [] }
        var conversions: [Conversion] = []
        for column in entity.live where !past.live.contains(where: { $0.id == column.id }) {
            var steps: [Upcast] = []
            var ancestor = column
            while let origin = entity.origin(of: ancestor) {
                steps.insert(try upcasts.step(into: ancestor, of: entity), at: 0)
                ancestor = origin
                guard past.live.contains(where: { $0.id == origin.id }) else { continue }
                var old = origin
                old.isDropped = false
                old.stored = "storage_old_\(origin.id)"
                conversions.append(Conversion(column: column, old: old, fallback: old.fallback, steps: steps))
                steps = []
                break
            }
            guard !steps.isEmpty else { continue }
            conversions.append(Conversion(column: column, old: nil, fallback: ancestor.fallback, steps: steps))
        }
        return conversions
    }

    private func convert(_ conversion: Conversion, of entity: CatalogEntity, in target: Connection) throws {
        let table = quoted(entity.stored)
        guard let old = conversion.old.map({ quoted($0.stored) }) else {
            let update = try PreparedStatement(
                target, "UPDATE OR ABORT \(table) SET \(quoted(conversion.column.stored)) = ?1")
            try update.writer.bind(conversion.steps.reduce(conversion.fallback) { try $1($0) }, at: 1)
            return try update.execute()
        }
        let rowid = entity.rowidName ?? "rowid"
        let select = try PreparedStatement(target, "SELECT \(rowid), \(old) FROM \(table)")
        let update = try PreparedStatement(
            target, "UPDATE OR ABORT \(table) SET \(quoted(conversion.column.stored)) = ?1 WHERE \(rowid) = ?2")
        while try select.step() {
            let value = try conversion.steps.reduce(select.row.value(at: 1)) { try $1($0) }
            try update.writer.bind(value, at: 1)
            update.bind(select.integer(0), at: 2)
            try update.execute()
        }
        select.reset()
        try PreparedStatement(target, "ALTER TABLE \(table) DROP COLUMN \(old)").execute()
    }
}
