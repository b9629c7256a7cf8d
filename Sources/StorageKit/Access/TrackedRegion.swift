internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog
internal import StorageRouting

/// What a closure of SQL has read: says whether commits since concern it.
///
/// It is found by the statements that SQLite reports to have run: GRDB's region of each, and the tables that its program opens. Those
/// are tables and columns; rows only of a single plain statement, as ``RowFilter`` says.
struct TrackedRegion: Sendable {
    /// The columns of an entity that were read, by their ids; nil where all count.
    private var columns: [UInt32: Set<UInt32>?] = [:]
    /// What was read, in the users' words.
    private(set) var tables: [SubscriptionExplanation.Table] = []
    /// Whether tables were read whose changes aren't in the log, such as those of projections.
    private(set) var isUnknown = false
    /// Which rows were read, where it was one plain statement; nil where all count.
    private(set) var filter: RowFilter?
    /// The entities that were read, and those whose full-text index was.
    private(set) var entities: [String] = []
    private(set) var searched: [String] = []
    /// Where there are more events nobody looks at them: everything may have changed.
    private static let eventLimit: Int64 = 100_000

    /// What `body` returns, and what it has read.
    static func reading<Value>(_ db: Database, _ body: (Database) throws -> Value) throws -> (Value, TrackedRegion) {
        let statements = ReadStatements()
        db.trace { event in
            if case .statement(let statement) = event { statements.add(statement) }
        }
        defer { db.trace(nil) }
        let value = try body(db)
        db.trace(nil)
        return (value, try TrackedRegion(statements, db))
    }

    private init(_ statements: ReadStatements, _ db: Database) throws {
        var region = DatabaseRegion()
        var opened = try OpenedTables(db)
        for text in statements.all {
            do {
                let statements = try db.allStatements(sql: text)
                while let statement = try statements.next() {
                    guard sqlite3_stmt_isexplain(statement.sqliteStatement) == 0 else { continue }
                    region.formUnion(statement.databaseRegion)
                    try opened.add(statement.sql)
                }
            } catch {
                // It has run, and no longer can: it may have read a temporary table.
                isUnknown = true
            }
        }
        func isRead(_ table: String) -> Bool { region.isModified(byEventsOfKind: .insert(tableName: table)) }
        let connection = try db.connection
        let catalog = try Catalog.load(connection)
        var known: Set<String> = []
        for entity in catalog.live {
            known.insert(entity.stored)
            guard isRead(entity.stored) || opened.contains(entity.stored) else { continue }
            entities.append(entity.name)
            if let only = statements.only, opened.isOnly(entity.stored) {
                filter = RowFilter(only.expanded, isBound: only.isBound, of: entity)
            }
            let all = opened.contains(entity.stored) && (opened.hasUnnamedColumns || !isRead(entity.stored))
            let read = all ? nil : Self.columns(of: entity, in: region)
            // Changes that take one another back move the row's position, and a filter doesn't see them.
            if read == nil { filter = nil }
            columns.updateValue(read, forKey: entity.id)
            let names = read.map { read in entity.live.filter { read.contains($0.id) }.map(\.name) }
            tables.append(.tracked(entity.name, columns: names, isLogged: true))
        }
        for index in try FullTextIndex.load(connection) {
            known.formUnion([index.table] + index.shadowTables)
            guard isRead(index.table) || opened.hasVirtualTables && opened.hasUnnamedColumns else { continue }
            columns.updateValue(nil, forKey: index.entity)
            if let name = catalog.entity(id: index.entity)?.name { searched.append(name) }
        }
        let names = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
        let others = names.filter { !known.contains($0) && (isRead($0) || opened.contains($0)) }
        isUnknown = isUnknown || !others.isEmpty
        if isUnknown || columns.count != 1 { filter = nil }
        tables += others.map { .tracked($0, columns: nil, isLogged: false) }
    }

    /// Nil where every event changes what was read.
    private static func columns(of entity: CatalogEntity, in region: DatabaseRegion) -> Set<UInt32>? {
        func reads(_ column: String) -> Bool {
            region.isModified(byEventsOfKind: .update(tableName: entity.stored, columnNames: [column]))
        }
        guard !reads("_position") else { return nil }
        return Set(entity.live.filter { reads($0.stored) }.map(\.id))
    }

    /// Whether what was read may be another after some events, of which none changes the schema.
    ///
    /// - Parameter positions: Up to the state of `db`.
    func isConcerned(by positions: ClosedRange<Int64>, _ db: Database) throws -> Bool {
        guard !isUnknown, positions.upperBound - positions.lowerBound < Self.eventLimit else { return true }
        var isConcerned = false
        func isRead(_ entity: UInt32) -> Bool { columns[entity] != nil }
        let log = LogReader(try db.connection)
        try log.forEachBatch(in: positions, where: { $0.entities.contains(where: isRead) }) { batch in
            let first = batch.header.first
            let events = positions.clamped(to: batch.positions)
            batch.withView { view in
                for event in Int(events.lowerBound - first)...Int(events.upperBound - first) {
                    isConcerned = isConcerned || changesWhatWasRead(event, view)
                }
            }
            return !isConcerned
        }
        guard isConcerned, let filter, let read = columns.first else { return isConcerned }
        return try filter.isConcerned(by: positions, reading: read.value, db)
    }

    private func changesWhatWasRead(_ event: Int, _ view: EventView) -> Bool {
        let shape = view.shape(of: event)
        guard let read = columns[shape.entity] else { return false }
        guard let read, shape.isUpdate else { return true }
        return (0..<Int(shape.column_count)).contains { read.contains(shape.columns[$0]) }
    }
}

/// The tables that statements open, by their programs: GRDB's regions come from an authorizer, which doesn't hear of all of them.
private struct OpenedTables {
    private let tables: ProgramTables
    private var names: Set<String> = []
    private let viewsHaveUnnamedColumns: Bool
    /// Whether columns may be compared that no region names.
    private(set) var hasUnnamedColumns = false
    private(set) var hasVirtualTables = false

    init(_ db: Database) throws {
        tables = try ProgramTables(try db.connection)
        viewsHaveUnnamedColumns =
            try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'view'").contains(
                where: Self.mayJoinByName)
    }

    func contains(_ table: String) -> Bool { names.contains(table) }

    /// Whether nothing else was opened.
    func isOnly(_ table: String) -> Bool { names == [table] && !hasVirtualTables }

    mutating func add(_ sql: String) throws {
        hasUnnamedColumns = hasUnnamedColumns || viewsHaveUnnamedColumns || Self.mayJoinByName(sql)
        let opened = try tables.opened(by: sql)
        names.formUnion(opened.names)
        hasVirtualTables = hasVirtualTables || opened.hasVirtualTables
    }

    private static func mayJoinByName(_ sql: String) -> Bool {
        let sql = sql.uppercased()
        return sql.contains("USING") || sql.contains("NATURAL")
    }
}

/// Collects statements while a closure runs, on its connection's thread.
private final class ReadStatements {
    private(set) var all: Set<String> = []
    /// The only statement with what was bound to it; nil where several have run, also the same one twice.
    private(set) var only: (expanded: String, isBound: Bool)?
    private var isFirst = true

    func add(_ statement: Database.TraceEvent.Statement) {
        let sql = statement.sql
        all.insert(sql)
        guard isFirst else { return only = nil }
        isFirst = false
        let expanded = statement.expandedSQL
        only = (expanded, expanded != sql)
    }
}
