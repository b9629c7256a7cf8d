internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// What a closure of SQL has read: says whether commits since concern it.
///
/// It is found by the statements that SQLite reports to have run, and GRDB's region of each: tables and columns, not rows.
struct TrackedRegion: Sendable {
    /// The columns of an entity that were read, by their ids; nil where all count.
    private var columns: [UInt32: Set<UInt32>?] = [:]
    /// What was read, in the users' words: `users.name`, or `users` where all columns count.
    private(set) var names: [String] = []
    /// Whether tables were read whose changes aren't in the log, such as those of projections.
    private(set) var isUnknown = false
    /// Where there are more events nobody looks at them: everything may have changed.
    private static let eventLimit: Int64 = 100_000

    /// What `body` returns, and what it has read.
    static func reading<Value>(_ db: Database, _ body: (Database) throws -> Value) throws -> (Value, TrackedRegion) {
        let statements = ReadStatements()
        db.trace { event in
            if case .statement(let statement) = event { statements.add(statement.sql) }
        }
        defer { db.trace(nil) }
        let value = try body(db)
        db.trace(nil)
        return (value, try TrackedRegion(statements.all, db))
    }

    private init(_ statements: Set<String>, _ db: Database) throws {
        var region = DatabaseRegion()
        for sql in statements { region.formUnion(try db.makeStatement(sql: sql).databaseRegion) }
        let connection = try db.connection
        let catalog = try Catalog.load(connection)
        var known: Set<String> = []
        for entity in catalog.live {
            known.insert(entity.stored)
            guard region.isModified(byEventsOfKind: .insert(tableName: entity.stored)) else { continue }
            let read = Self.columns(of: entity, in: region)
            columns[entity.id] = read
            names +=
                read.map { read in
                    entity.live.filter { read.contains($0.id) }.map { "\(entity.name).\($0.name)" }
                } ?? [entity.name]
        }
        for index in try FullTextIndex.load(connection) {
            known.formUnion([index.table] + index.shadowTables)
            guard region.isModified(byEventsOfKind: .insert(tableName: index.table)) else { continue }
            columns[index.entity] = .some(nil)
        }
        let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
        let others = tables.filter { name in
            !known.contains(name) && region.isModified(byEventsOfKind: .insert(tableName: name))
        }
        isUnknown = !others.isEmpty
        names += others
    }

    /// Nil where every event changes what was read.
    private static func columns(of entity: CatalogEntity, in region: DatabaseRegion) -> Set<UInt32>? {
        func reads(_ column: String) -> Bool {
            region.isModified(byEventsOfKind: .update(tableName: entity.stored, columnNames: [column]))
        }
        guard !reads("_position") else { return nil }
        return Set(entity.live.filter { reads($0.stored) }.map(\.id))
    }

    /// Whether what was read may be another after some events.
    func isConcerned(by positions: ClosedRange<Int64>, of log: LogReader) throws -> Bool {
        guard !isUnknown, positions.upperBound - positions.lowerBound < Self.eventLimit else { return true }
        var isConcerned = false
        func isRead(_ entity: UInt32) -> Bool { columns[entity] != nil || entity == CatalogEntity.catalog.id }
        try log.forEachBatch(in: positions, where: { $0.entities.contains(where: isRead) }) { batch in
            let first = batch.header.first
            let events = positions.clamped(to: batch.positions)
            isConcerned = batch.withView { view in
                (Int(events.lowerBound - first)...Int(events.upperBound - first)).contains {
                    changesWhatWasRead($0, view)
                }
            }
            return !isConcerned
        }
        return isConcerned
    }

    private func changesWhatWasRead(_ event: Int, _ view: EventView) -> Bool {
        let shape = view.shape(of: event)
        // Tables that are changed may be read in another way.
        if shape.entity == CatalogEntity.catalog.id { return true }
        guard let read = columns[shape.entity] else { return false }
        guard let read, shape.isUpdate else { return true }
        return (0..<Int(shape.column_count)).contains { read.contains(shape.columns[$0]) }
    }
}

/// Collects statements while a closure runs, on its connection's thread.
private final class ReadStatements {
    private(set) var all: Set<String> = []

    /// What triggers and SQLite itself run is reported as comments.
    func add(_ sql: String) { if !sql.hasPrefix("--") { all.insert(sql) } }
}
