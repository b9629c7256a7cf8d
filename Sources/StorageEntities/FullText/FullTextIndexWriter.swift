internal import CSQLite
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// Brings one row's change into one index.
final class FullTextIndexWriter {
    let index: FullTextIndex
    /// The statement that made the index, as SQLite keeps it.
    let sql: String
    /// How many of the transaction's captured events the index shows already, because it was made from the table as they left it.
    var shownEvents = 0
    private let columnCount: Int
    private let columns: [UInt32]
    /// Indices in the primary key of the columns that belong to it; events store the key separately.
    private var keyIndices: [UInt32: Int] = [:]
    private let insert: PreparedStatement
    private let remove: PreparedStatement
    private let database: Connection
    private let entity: CatalogEntity?
    /// The columns of the entity's table, as SQL.
    private let list: String
    /// Reads a row's texts from the entity's table.
    private var preparedSelect: PreparedStatement?
    private let all: PreparedStatement
    private let optimize: PreparedStatement
    private let countDocuments: PreparedStatement

    /// From how many documents on a commit is a large one.
    private static let manyDocuments = 256

    init(_ index: FullTextIndex, _ writer: LogWriter) throws {
        self.index = index
        columns = index.columns
        columnCount = columns.count
        let table = quoted(index.table)
        let names = try index.storedColumns(writer.catalog).map(quoted)
        list = names.joined(separator: ", ")
        let placeholders = names.indices.map { "?\($0 + 2)" }.joined(separator: ", ")
        database = writer.database
        insert = try PreparedStatement(database, "INSERT INTO \(table)(rowid, \(list)) VALUES (?1, \(placeholders))")
        remove = try PreparedStatement(
            database, "INSERT INTO \(table)(\(table), rowid, \(list)) VALUES ('delete', ?1, \(placeholders))")
        all = try PreparedStatement(database, "INSERT INTO \(table)(\(table)) VALUES ('rebuild')")
        optimize = try PreparedStatement(database, "INSERT INTO \(table)(\(table)) VALUES ('optimize')")
        countDocuments = try PreparedStatement(
            database, "SELECT count(*) FROM (SELECT 1 FROM \(quoted("\(index.table)_docsize")) LIMIT ?1)")
        entity = writer.catalog.entity(id: index.entity)
        for (offset, column) in (entity?.key ?? []).enumerated() { keyIndices[column.id] = offset }
        let text = try PreparedStatement(database, "SELECT sql FROM sqlite_schema WHERE name = ?1")
        text.bind(text: index.table, at: 1)
        sql = try text.step() ? text.string(0) : ""
    }

    /// Prepared when it is needed first: another program may have changed the table's columns, or hidden every name of its rowid, and
    /// a store with such a table is opened, so that it can be rebuilt.
    private func select() throws -> PreparedStatement {
        if let preparedSelect { return preparedSelect }
        let rowid = try entity?.rowid ?? "rowid"
        let select = try PreparedStatement(
            database, "SELECT \(list) FROM \(quoted(entity?.stored ?? "")) WHERE \(rowid) = ?1")
        preparedSelect = select
        return select
    }

    /// Rebuilds the whole index from the entity's table.
    func rebuild(in writer: LogWriter) throws {
        shownEvents = writer.pendingEvents
        try all.execute()
        if try documents(upTo: Self.manyDocuments) == Self.manyDocuments {
            writer.reconnectVirtualTables()
            try optimize.execute()
        }
        // The rest of a commit's body may set savepoints.
        try writer.flushFullTextIndexes()
    }

    /// Prepares the index for small commits, after one that has changed `count` documents. Does nothing unless they are
    /// many.
    ///
    /// FTS5 would merge the new segments during later commits, at their cost. If at least half of the index is new, it is
    /// merged at once, which takes a tenth of the time of writing it; merging more often would take time that grows with
    /// the index. FTS5 also scans its table of pending words whenever it writes them, and that table only grows while it
    /// is connected.
    func settle(after count: Int, in writer: LogWriter) throws {
        guard count >= Self.manyDocuments else { return }
        writer.reconnectVirtualTables()
        if try documents(upTo: 2 * count + 1) <= 2 * count { try optimize.execute() }
    }

    /// How many documents the index holds, but no more than `limit`.
    private func documents(upTo limit: Int) throws -> Int {
        countDocuments.bind(Int64(limit), at: 1)
        defer { countDocuments.reset() }
        return try countDocuments.step() ? Int(countDocuments.integer(0)) : 0
    }

    /// Takes the row's texts from before the commit out, and those from after it in.
    ///
    /// - Returns: Whether they differ.
    func apply(_ events: [Int], row: Int64, of view: EventView) throws -> Bool {
        let first = view.shape(of: events[0])
        let last = view.shape(of: events[events.count - 1])
        let wasThere = !first.isInsert
        let isThere = !last.isDelete
        guard wasThere || isThere else { return false }
        if events.count == 1, !touches(first) { return false }
        let old = wasThere ? oldValues(events, of: view) : []
        // A row that was only inserted is in the event; any other is read as the commit leaves it.
        if !wasThere, events.count == 1 {
            for (offset, column) in columns.enumerated() {
                bind(value(of: column, in: events[0], of: view), of: view, to: insert, column: offset)
            }
            try run(insert, row)
            return true
        }
        let select = try select()
        var isRead = false
        defer { if isRead { select.reset() } }
        if isThere {
            select.bind(row, at: 1)
            isRead = try select.step()
            guard isRead else {
                throw StorageError.corruptLog("row \(row) of \(index.name) isn't there after its change")
            }
        }
        if wasThere, isThere, (0..<columnCount).allSatisfy({ isCurrent(old[$0], of: view, column: $0, select) }) {
            return false
        }
        if wasThere {
            for offset in 0..<columnCount {
                if let value = old[offset] {
                    bind(value, of: view, to: remove, column: offset)
                } else {
                    copy(select, column: offset, to: remove)
                }
            }
            try run(remove, row)
        }
        if isThere {
            for offset in 0..<columnCount { copy(select, column: offset, to: insert) }
            try run(insert, row)
        }
        return true
    }

    /// Whether an event contains an indexed column.
    private func touches(_ shape: storage_shape) -> Bool {
        guard shape.isUpdate else { return true }
        return columns.contains { position(of: $0, in: shape) != nil }
    }

    private func position(of column: UInt32, in shape: storage_shape) -> Int? {
        (0..<Int(shape.column_count)).first { shape.columns[$0] == column }
    }

    /// The row's values before the commit; nil for those that the commit didn't change.
    private func oldValues(_ events: [Int], of view: EventView) -> [storage_value?] {
        var old: [storage_value?] = Array(repeating: nil, count: columnCount)
        let null = storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0)
        for event in events {
            let shape = view.shape(of: event)
            let isDelete = shape.isDelete
            for (offset, column) in columns.enumerated() where old[offset] == nil {
                old[offset] = value(of: column, in: event, of: view)
                // An event leaves out nothing but NULL of a row that is deleted.
                if isDelete, old[offset] == nil { old[offset] = null }
            }
            if isDelete { break }
        }
        return old
    }

    /// The value of a column in an event, for an update the old one; nil if the event doesn't contain the column.
    private func value(of column: UInt32, in event: Int, of view: EventView) -> storage_value? {
        if let offset = keyIndices[column] { return view.key(of: event)[offset] }
        return position(of: column, in: view.shape(of: event)).map { view.columns(of: event)[$0] }
    }

    /// Whether the row still holds a value; a column that the commit left alone does.
    private func isCurrent(
        _ value: storage_value?, of view: EventView, column: Int, _ select: PreparedStatement
    ) -> Bool {
        guard let value else { return true }
        return select.holds(value, bytes: view.bytes, in: Int32(column))
    }

    private func bind(_ value: storage_value?, of view: EventView, to statement: PreparedStatement, column: Int) {
        if let value {
            statement.bind(value, bytes: view.bytes, at: Int32(column + 2))
        } else {
            statement.bindNull(at: Int32(column + 2))
        }
    }

    /// Copies a column of the current row.
    private func copy(_ select: PreparedStatement, column: Int, to statement: PreparedStatement) {
        sqlite3_bind_value(statement.pointer, Int32(column + 2), sqlite3_column_value(select.pointer, Int32(column)))
    }

    private func run(_ statement: PreparedStatement, _ row: Int64) throws {
        statement.bind(row, at: 1)
        try statement.execute()
    }
}
