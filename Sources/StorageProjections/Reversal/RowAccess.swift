internal import StorageCore
internal import StorageLog

/// Single rows of one table by their keys, value for value, columns told apart by their ids.
///
/// Not `Sendable`: it belongs to its writer's thread.
final class RowAccess {
    let columns: [CatalogColumn]
    private let keys: [CatalogColumn]
    private let writer: LogWriter
    private let table: String
    private let condition: String
    private let select: RowSelect

    init(_ entity: CatalogEntity, _ writer: LogWriter) throws {
        self.writer = writer
        columns = entity.live
        keys = entity.key
        table = quoted(entity.stored)
        condition = RowSelect.condition(of: entity)
        select = try RowSelect(entity, writer)
    }

    func row(_ key: [ExactValue]) throws -> [UInt32: ExactValue]? { try select.row(key) }

    /// Deletes a row.
    ///
    /// - Parameter withOthers: Whether rows that foreign keys take along may go too.
    /// - Returns: Whether it was deleted; not where others would have gone, and then they all stay.
    func delete(_ key: [ExactValue], withOthers: Bool) throws -> Bool {
        try writer.statement("SAVEPOINT storage_reversal").execute()
        let position = writer.nextPosition
        try run("DELETE FROM \(table) WHERE \(condition)", key)
        let isAlone = writer.nextPosition <= position + 1
        if !isAlone, !withOthers { try writer.statement("ROLLBACK TO storage_reversal").execute() }
        try writer.statement("RELEASE storage_reversal").execute()
        return isAlone || withOthers
    }

    func update(_ key: [ExactValue], _ values: [UInt32: ExactValue]) throws {
        let changed = columns.filter { $0.keyPlace == 0 && values[$0.id] != nil }
        guard !changed.isEmpty else { return }
        let assignments = changed.map { "\(quoted($0.stored)) = ?" } + ["_position = ?"]
        try run(
            "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(condition)",
            changed.map { values[$0.id] ?? .null } + [.integer(writer.nextPosition)] + key)
    }

    func insert(_ key: [ExactValue], _ values: [UInt32: ExactValue]) throws {
        let others = columns.filter { $0.keyPlace == 0 && values[$0.id] != nil }
        let names = (keys + others).map { quoted($0.stored) } + ["_position"]
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        try run(
            "INSERT INTO \(table)(\(names.joined(separator: ", "))) VALUES (\(marks))",
            key + others.map { values[$0.id] ?? .null } + [.integer(writer.nextPosition)])
    }

    private func run(_ sql: String, _ values: [ExactValue]) throws {
        let statement = try writer.statement(sql)
        for (place, value) in values.enumerated() { value.bind(to: statement, at: Int32(place + 1)) }
        try statement.execute()
    }
}
