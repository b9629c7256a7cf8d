internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog
internal import StorageRouting

/// The tables, columns and rows that a closure of SQL has read, to decide whether later commits affect it.
///
/// Derived from the statements that SQLite reports to have run: GRDB's region of each, and the tables that its bytecode opens. These give tables and
/// columns; rows are known only for a single plain statement, see ``RowFilter``.
struct TrackedRegion: Sendable {
    /// The ids of the columns read, by entity; nil if all columns count.
    private var columns: [UInt32: Set<UInt32>?] = [:]
    /// The tables read, as reported to users.
    private(set) var tables: [SubscriptionExplanation.Table] = []
    /// Whether tables were read whose changes aren't in the log, such as those of projections.
    private(set) var isUnknown = false
    /// The rows read, if the closure ran one plain statement; nil if all rows count.
    private(set) var filter: RowFilter?
    /// The entities whose tables were read; `searched` are those whose full-text index was read.
    private(set) var entities: [String] = []
    private(set) var searched: [String] = []
    /// More events than this aren't examined: everything counts as changed.
    private static let eventLimit: Int64 = 100_000

    /// Returns the result of `body`, and the region that it has read.
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
                // The statement ran but can't be prepared any more: it may have read a temporary table.
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
            // Changes that cancel out still move the row's position, which a filter doesn't notice.
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

    /// Returns the ids of the columns read; nil if every event changes what was read.
    private static func columns(of entity: CatalogEntity, in region: DatabaseRegion) -> Set<UInt32>? {
        func reads(_ column: String) -> Bool {
            region.isModified(byEventsOfKind: .update(tableName: entity.stored, columnNames: [column]))
        }
        guard !reads("_position") else { return nil }
        return Set(entity.live.filter { reads($0.stored) }.map(\.id))
    }

    /// Returns whether some events, none of which changes the schema, may change what was read.
    ///
    /// - Parameter positions: The positions of the events, up to the state of `db`.
    func isConcerned(by positions: ClosedRange<Int64>, _ db: Database) throws -> Bool {
        guard !isUnknown, positions.upperBound - positions.lowerBound < Self.eventLimit else { return true }
        let log = LogReader(try db.connection)
        let isConcerned = try log.hasEvents(in: positions, of: { columns[$0] != nil }, where: changesWhatWasRead)
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

/// The tables that statements open according to their bytecode: GRDB's regions come from an authorizer, which doesn't report all of them.
private struct OpenedTables {
    private let tables: ProgramTables
    private var names: Set<String> = []
    private let viewsHaveUnnamedColumns: Bool
    /// Whether a statement may compare columns that no region names, as NATURAL and USING do.
    private(set) var hasUnnamedColumns = false
    private(set) var hasVirtualTables = false

    init(_ db: Database) throws {
        tables = try ProgramTables(try db.connection)
        viewsHaveUnnamedColumns =
            try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'view'").contains(
                where: Self.mayJoinByName)
    }

    func contains(_ table: String) -> Bool { names.contains(table) }

    /// Returns whether no other table was opened.
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
    /// The only statement, with its bound values expanded; nil if several have run, even the same one twice.
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
