internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// What a closure of SQL has read: says whether commits since concern it.
///
/// It is found by the statements that SQLite reports to have run: GRDB's region of each, and the tables that its program opens. Tables
/// and columns, not rows.
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

    private init(_ texts: Set<String>, _ db: Database) throws {
        var region = DatabaseRegion()
        var opened = try OpenedTables(db)
        for text in texts {
            do {
                let statements = try db.allStatements(sql: text)
                while let statement = try statements.next() {
                    guard sqlite3_stmt_isexplain(statement.sqliteStatement) == 0 else { continue }
                    region.formUnion(statement.databaseRegion)
                    try opened.add(statement.sql, db)
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
            let all = opened.contains(entity.stored) && (opened.hasUnnamedColumns || !isRead(entity.stored))
            let read = all ? nil : Self.columns(of: entity, in: region)
            columns.updateValue(read, forKey: entity.id)
            names +=
                read.map { read in
                    entity.live.filter { read.contains($0.id) }.map { "\(entity.name).\($0.name)" }
                } ?? [entity.name]
        }
        for index in try FullTextIndex.load(connection) {
            known.formUnion([index.table] + index.shadowTables)
            guard isRead(index.table) || opened.hasVirtualTables && opened.hasUnnamedColumns else { continue }
            columns.updateValue(nil, forKey: index.entity)
        }
        let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
        let others = tables.filter { !known.contains($0) && (isRead($0) || opened.contains($0)) }
        isUnknown = isUnknown || !others.isEmpty
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

/// The tables that statements open, by their programs.
///
/// SQLite reports to an authorizer, from which GRDB's regions come, neither the columns that `USING` and `NATURAL JOIN` compare, nor a
/// table of which nothing else is read. (Seen with 3.40.1.) Its programs name all tables by their root pages.
private struct OpenedTables {
    private let tables: [Int: String]
    private var names: Set<String> = []
    private let viewsHaveUnnamedColumns: Bool
    /// Whether columns may be compared that no region names.
    private(set) var hasUnnamedColumns = false
    private(set) var hasVirtualTables = false

    init(_ db: Database) throws {
        let sql = "SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0"
        tables = try Dictionary(Row.fetchAll(db, sql: sql).map { ($0[0], $0[1]) }) { first, _ in first }
        viewsHaveUnnamedColumns =
            try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'view'").contains(
                where: Self.mayJoinByName)
    }

    func contains(_ table: String) -> Bool { names.contains(table) }

    mutating func add(_ sql: String, _ db: Database) throws {
        hasUnnamedColumns = hasUnnamedColumns || viewsHaveUnnamedColumns || Self.mayJoinByName(sql)
        let program = try Row.fetchCursor(db, sql: "EXPLAIN \(sql)")
        while let instruction = try program.next() {
            switch instruction["opcode"] as String {
            // The second operand is the root page; the third is 0 for the main database.
            case "OpenRead" where instruction["p3"] == 0: if let name = tables[instruction["p2"]] { names.insert(name) }
            case "VOpen": hasVirtualTables = true
            default: break
            }
        }
    }

    private static func mayJoinByName(_ sql: String) -> Bool {
        let sql = sql.uppercased()
        return sql.contains("USING") || sql.contains("NATURAL")
    }
}

/// Collects statements while a closure runs, on its connection's thread.
private final class ReadStatements {
    private(set) var all: Set<String> = []

    func add(_ sql: String) { all.insert(sql) }
}
