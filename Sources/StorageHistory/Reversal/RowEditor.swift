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
    /// - Parameter withOthers: Whether rows that foreign keys delete or change with it may be changed too.
    /// - Returns: Why the row and all others stay; nil if it was deleted. A later try may succeed, once rows that refer to it are
    ///   gone.
    /// - Complexity: O(n) in the rows that refer to it; if others must stay, without those that refer to them in turn.
    func delete(_ key: [ExactValue], withOthers: Bool) throws -> String? {
        try writer.statement("SAVEPOINT storage_reversal").execute()
        let obstacle = try obstacle(toDeleting: key, withOthers: withOthers)
        if obstacle != nil { try writer.statement("ROLLBACK TO storage_reversal").execute() }
        try writer.statement("RELEASE storage_reversal").execute()
        return obstacle
    }

    /// Deletes a row, and returns why that has to be undone.
    private func obstacle(toDeleting key: [ExactValue], withOthers: Bool) throws -> String? {
        let sql = "DELETE FROM \(table) WHERE \(RowLookup.condition(of: entity))"
        // Not by the events: rows of tables without history have none.
        let changes = writer.database.totalChanges
        do {
            if withOthers {
                try run(sql, key)
                return nil
            }
            try writer.database.withTriggerDepth(1) { try run(sql, key) }
            return writer.database.totalChanges <= changes + 1 ? nil : Self.othersAreDeleted
        } catch let error as StorageError where error.isTriggerDepth {
            return Self.othersAreDeleted
        } catch let error as StorageError where error.code == .conflict {
            return "a row that refers to it prevents this (\(error.message))"
        }
    }

    private static let othersAreDeleted = "rows that refer to it would be deleted too"

    func update(_ key: [ExactValue], _ values: [UInt32: ExactValue]) throws {
        let changed = columns.filter { $0.keyOrdinal == 0 && values[$0.id] != nil }
        guard !changed.isEmpty else { return }
        try update(changed, to: changed.map { values[$0.id] ?? .null }, at: writer.nextPosition, of: key)
    }

    /// Changes a row's key and other values. Rows that refer to it stay.
    func update(_ key: [ExactValue], _ values: [UInt32: ExactValue], key new: [ExactValue]) throws {
        let others = columns.filter { $0.keyOrdinal == 0 && values[$0.id] != nil }
        // The log records it as a delete and an insert; the latter is the row's last event.
        try update(
            keys + others, to: new + others.map { values[$0.id] ?? .null }, at: writer.nextPosition + 1, of: key)
    }

    /// OR ABORT here and below, because otherwise a conflict clause of the schema could delete other rows, or skip this one.
    private func update(
        _ columns: [CatalogColumn], to values: [ExactValue], at position: Int64, of key: [ExactValue]
    ) throws {
        let assignments = columns.map { "\(quoted($0.stored)) = ?" } + ["_position = ?"]
        let condition = RowLookup.condition(of: entity, from: assignments.count + 1)
        try run(
            "UPDATE OR ABORT \(table) SET \(assignments.joined(separator: ", ")) WHERE \(condition)",
            values + [.integer(position)] + key)
    }

    func insert(_ key: [ExactValue], _ values: [UInt32: ExactValue]) throws {
        let others = columns.filter { $0.keyOrdinal == 0 && values[$0.id] != nil }
        let names = (keys + others).map { quoted($0.stored) } + ["_position"]
        let placeholders = names.map { _ in "?" }.joined(separator: ", ")
        try run(
            "INSERT OR ABORT INTO \(table)(\(names.joined(separator: ", "))) VALUES (\(placeholders))",
            key + others.map { values[$0.id] ?? .null } + [.integer(writer.nextPosition)])
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
