internal import StorageCore
internal import StorageLog

/// Single rows of one table by their keys, value for value, columns identified by their ids.
///
/// Not `Sendable`: it belongs to its writer's thread.
final class RowEditor {
    let columns: [CatalogColumn]
    private let keys: [CatalogColumn]
    private let writer: LogWriter
    private let entity: CatalogEntity
    private let table: String
    private let select: RowLookup
    /// The columns by which other rows refer to this table's and that a foreign key changes with them, in lower case; read when needed.
    private var followed: Set<ExactText>?

    init(_ entity: CatalogEntity, _ writer: LogWriter) throws {
        self.writer = writer
        self.entity = entity
        columns = entity.live
        keys = entity.key
        table = quoted(entity.stored)
        select = try RowLookup(entity, writer)
    }

    func row(_ key: [ExactValue]) throws -> [NetRow.Cell]? { try select.row(key) }

    /// The key of an existing row that the table treats as equal to another key; nil if there is none, or if it is the same key.
    func twin(of key: [ExactValue]) throws -> [ExactValue]? {
        guard keys.contains(where: { $0.collation != CatalogColumn.binary || $0.affinity == .blob }) else { return nil }
        let names = keys.map { quoted($0.stored) }
        let find = try writer.statement(
            "SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE \(condition(binding: keys.map(\.stored)))")
        defer { find.reset() }
        for (index, value) in key.enumerated() { value.bind(to: find, at: Int32(index + 1)) }
        guard try find.step() else { return nil }
        let found = keys.indices.map { ExactValue(find, column: Int32($0)) }
        return found == key ? nil : found
    }

    /// Deletes a row.
    ///
    /// - Parameter withOthers: Whether rows that foreign keys delete or change with it may be changed too, except in tables without
    ///   history.
    /// - Returns: Why the row and all others stay; nil if it was deleted. A later try may succeed, once rows that refer to it are
    ///   gone.
    /// - Complexity: O(n) in the rows that refer to it; if others must stay, without those that refer to them in turn.
    func delete(_ key: [ExactValue], withOthers: Bool) throws -> String? {
        try obstacle(
            to: "DELETE FROM \(table) WHERE \(RowLookup.condition(of: entity))", key, .deleted, withOthers: withOthers)
    }

    /// Changes values of a row.
    ///
    /// - Parameter withOthers: Whether rows that foreign keys change with it may be changed too, except in tables without history.
    /// - Returns: Why the row and all others stay; nil if it was changed.
    func update(_ key: [ExactValue], _ values: [UInt32: ExactValue], withOthers: Bool) throws -> String? {
        let changed = columns.filter { $0.keyOrdinal == 0 && values[$0.id] != nil }
        guard !changed.isEmpty else { return nil }
        return try update(
            changed, to: changed.map { values[$0.id] ?? .null }, at: writer.nextPosition, of: key,
            withOthers: withOthers)
    }

    /// Changes a row's key and other values. Rows that refer to it stay.
    ///
    /// - Returns: Why the row stays; nil if it was changed.
    func update(_ key: [ExactValue], _ values: [UInt32: ExactValue], key new: [ExactValue]) throws -> String? {
        let others = columns.filter { $0.keyOrdinal == 0 && values[$0.id] != nil }
        // The log records it as a delete and an insert; the latter is the row's last event.
        return try update(
            keys + others, to: new + others.map { values[$0.id] ?? .null }, at: writer.nextPosition + 1, of: key,
            withOthers: false)
    }

    /// OR ABORT here and below, because otherwise a conflict clause of the schema could delete other rows, or skip this one.
    private func update(
        _ columns: [CatalogColumn], to values: [ExactValue], at position: Int64, of key: [ExactValue], withOthers: Bool
    ) throws -> String? {
        let assignments = columns.map { "\(quoted($0.stored)) = ?" } + ["_position = ?"]
        let condition = RowLookup.condition(of: entity, from: assignments.count + 1)
        let sql = "UPDATE OR ABORT \(table) SET \(assignments.joined(separator: ", ")) WHERE \(condition)"
        let bound = values + [.integer(position)] + key
        let followed = try followedColumns()
        guard columns.contains(where: { followed.contains($0.stored.folded) }) else {
            return try obstacle(to: sql, bound)
        }
        return try obstacle(to: sql, bound, .changed, withOthers: withOthers)
    }

    /// - Parameters:
    ///   - rowid: The rowid of a row whose key is another; if nil, SQLite assigns one.
    ///   - replaces: Whether rows that conflict with it are deleted.
    /// - Returns: Why the row can't be there; nil if it was inserted.
    func insert(
        _ key: [ExactValue], _ values: [UInt32: ExactValue], rowid: Int64? = nil, replaces: Bool = false
    ) throws -> String? {
        let others = columns.filter { $0.keyOrdinal == 0 && values[$0.id] != nil }
        let number = rowid.map { [ExactValue.integer($0)] } ?? []
        let names =
            try (keys + others).map { quoted($0.stored) } + ["_position"] + number.map { _ in try entity.rowid }
        let placeholders = names.map { _ in "?" }.joined(separator: ", ")
        return try obstacle(
            to:
                "INSERT OR \(replaces ? "REPLACE" : "ABORT") INTO \(table)(\(names.joined(separator: ", "))) VALUES (\(placeholders))",
            key + others.map { values[$0.id] ?? .null } + [.integer(writer.nextPosition)] + number)
    }

    /// What foreign keys do with the rows that refer to a changed one.
    private enum Action: String {
        case deleted, changed

        var obstacle: String { "rows that refer to it would be \(rawValue) too" }
    }

    /// Why a row can't be changed to which others refer.
    static var othersAreChanged: String { Action.changed.obstacle }

    /// Runs a statement after which foreign keys act on other rows, and undoes it all if there is an obstacle.
    private func obstacle(
        to sql: String, _ values: [ExactValue], _ action: Action, withOthers: Bool
    ) throws -> String? {
        try writer.statement("SAVEPOINT storage_reversal").execute()
        let obstacle = try obstacleWithActions(to: sql, values, action, withOthers: withOthers)
        if obstacle != nil { try writer.statement("ROLLBACK TO storage_reversal").execute() }
        try writer.statement("RELEASE storage_reversal").execute()
        return obstacle
    }

    private func obstacleWithActions(
        to sql: String, _ values: [ExactValue], _ action: Action, withOthers: Bool
    ) throws -> String? {
        // Not by the events: rows of tables without history have none.
        let changes = writer.database.totalChanges
        do {
            if withOthers {
                let unrecorded = writer.pendingUnrecordedChanges
                try run(sql, values)
                // Nothing could bring those back.
                return writer.pendingUnrecordedChanges == unrecorded
                    ? nil : "rows of a table without history would be deleted or changed too"
            }
            try writer.database.withTriggerDepth(1) { try run(sql, values) }
            return writer.database.totalChanges <= changes + 1 ? nil : action.obstacle
        } catch let error as StorageError where error.isTriggerDepth {
            return action.obstacle
        } catch let error as StorageError where error.code == .conflict {
            return action == .deleted
                ? "a row that refers to it prevents this (\(error.message))" : Self.conflict(error)
        }
    }

    /// Runs a statement after which foreign keys don't act on other rows.
    private func obstacle(to sql: String, _ values: [ExactValue]) throws -> String? {
        do {
            try run(sql, values)
            return nil
        } catch let error as StorageError where error.code == .conflict {
            return Self.conflict(error)
        }
    }

    private static func conflict(_ error: StorageError) -> String {
        "another row conflicts with it (\(error.message))"
    }

    private func followedColumns() throws -> Set<ExactText> {
        if let followed { return followed }
        // Without a list of columns a foreign key refers to the primary key. In a schema of many tables, the text rules out most.
        let select = try writer.statement(
            """
            SELECT coalesce(f."to", (SELECT p.name FROM temp.pragma_table_info(f."table") AS p WHERE p.pk = f.seq + 1))
            FROM sqlite_schema AS m, temp.pragma_foreign_key_list(m.name) AS f
            WHERE m.type = 'table' AND m.sql LIKE '%UPDATE%' AND f."table" = ? COLLATE NOCASE
                AND f.on_update NOT IN ('NO ACTION', 'RESTRICT')
            """)
        defer { select.reset() }
        select.bind(text: entity.stored, at: 1)
        var names: Set<ExactText> = []
        while try select.step() { names.insert(select.string(0).folded) }
        followed = names
        return names
    }

    private func run(_ sql: String, _ values: [ExactValue]) throws {
        let statement = try writer.statement(sql)
        for (index, value) in values.enumerated() { value.bind(to: statement, at: Int32(index + 1)) }
        // Reverting a tag writes one.
        if entity.isReserved { try writer.annotating(statement.execute) } else { try statement.execute() }
    }
}

extension StorageError {
    /// Whether the action of a foreign key has changed a row, and that row's change causes others, more deeply than the limit allows.
    fileprivate var isTriggerDepth: Bool {
        code == .database && message.contains("too many levels of trigger recursion")
    }
}
