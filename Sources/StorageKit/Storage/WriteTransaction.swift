internal import CSQLite
internal import Foundation
public import GRDB
public import StorageCore
public import StorageEntities
public import StorageLog

/// The changes of one commit under way, as the body of ``Storage/write(actor:app:reason:correlation:idempotencyKey:attributes:_:)``
/// gets them.
///
/// Not `Sendable`: it is valid inside the body only.
public struct WriteTransaction {
    package let writer: LogWriter
    /// The connection, for SQL of your own. What it changes in entity tables is captured like any other change.
    ///
    /// Leave `BEGIN`, `COMMIT` and `ROLLBACK` to StorageKit; savepoints are fine.
    public let database: GRDB.Database

    package init(writer: LogWriter, database: GRDB.Database) {
        self.writer = writer
        self.database = database
    }

    /// The time of what is written now.
    var now: Date { Date(microseconds: writer.configuration.clock.microseconds) }

    /// Inserts or updates an entity's row.
    public func save<E: RegisteredEntity>(_ entity: E) throws {
        try EntityTables.of(E.Record.self).save(CollectionOfOne(entity), now: now, with: writer)
    }

    /// Inserts or updates many rows.
    public func save<E: RegisteredEntity>(_ entities: [E]) throws {
        try EntityTables.of(E.Record.self).save(entities, now: now, with: writer)
    }

    /// Inserts or updates a row that is as expected.
    public func save<E: RegisteredEntity>(_ entity: E, expecting expected: RowPrecondition) throws {
        try check(E.self, id: entity.id, expected)
        try save(entity)
    }

    /// The entity with this id, with the changes of this transaction.
    public func get<E: RegisteredEntity>(_ type: E.Type, id: E.Id) throws -> E? {
        let table = EntityTables.of(E.Record.self)
        let statement = try writer.statement(table.selectByKey)
        try statement.writer.bind(E.Record.key(of: id), at: 1)
        defer { statement.reset() }
        return try statement.step() ? try E.Record(reading: statement.row).asEntity() : nil
    }

    /// Deletes the row with this id; does nothing where there is none.
    public func delete<E: RegisteredEntity>(_ type: E.Type, id: E.Id) throws {
        try EntityTables.of(E.Record.self).delete(E.Record.key(of: id), with: writer)
    }

    /// Deletes the row with this id if it is as expected.
    public func delete<E: RegisteredEntity>(_ type: E.Type, id: E.Id, expecting expected: RowPrecondition) throws {
        try check(type, id: id, expected)
        try delete(type, id: id)
    }

    /// Deletes an entity's row.
    public func delete<E: RegisteredEntity>(_ entity: E) throws { try delete(E.self, id: entity.id) }

    /// Deletes every row of an entity.
    public func deleteAll<E: RegisteredEntity>(_ type: E.Type) throws {
        try writer.statement("DELETE FROM \(quoted(E.Record.databaseTableName))").execute()
    }

    /// Deletes the rows whose column holds a value.
    public func deleteAll<E: RegisteredEntity, Value: StorageColumnValue>(
        _ type: E.Type, where column: String, equals value: Value
    ) throws {
        let table = EntityTables.of(E.Record.self)
        let statement = try writer.statement(
            "DELETE FROM \(quoted(table.name)) WHERE \(try table.column(named: column)) IS ?1")
        try value.write(to: statement.writer, at: 1)
        try statement.execute()
    }

    /// Runs SQL, values bound in the form in which properties are stored. What it changes in entity tables is captured.
    ///
    /// ```swift
    /// try tx.execute("DELETE FROM posts WHERE createdAt < ?", [limit])
    /// ```
    ///
    /// - Throws: `invalidValue` for NaN, which SQLite would turn into NULL, and for a date that can't be stored.
    public func execute(_ sql: String, _ values: [(any StorageColumnValue)?]) throws {
        try database.execute(sql: sql, arguments: StatementArguments(storing: values))
    }

    /// Runs SQL with GRDB's arguments, as GRDB binds them: dates to the millisecond.
    public func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try database.execute(sql: sql, arguments: arguments)
    }

    private func check<E: RegisteredEntity>(_ type: E.Type, id: E.Id, _ expected: RowPrecondition) throws {
        let key = E.Record.key(of: id)
        let table = EntityTables.of(E.Record.self)
        let found = try table.position(of: key, with: writer)
        let holds =
            switch expected {
            case .position(let expected): found == expected
            case .exists: found != nil
            case .absent: found == nil
            }
        guard !holds else { return }
        throw StorageError(
            .conflict,
            "The row \(key) of \"\(table.name)\" is \(found.map { "at position \($0)" } ?? "absent"), not \(expected).",
            remedy: "Read it again and retry with its current version.")
    }
}
