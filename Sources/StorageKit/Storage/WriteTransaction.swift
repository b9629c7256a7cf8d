internal import CSQLite
internal import Foundation
public import GRDB
public import StorageCore
public import StorageEntities
public import StorageLog

/// The changes of a commit that is being made, in the body of
/// ``Storage/write(actor:app:reason:correlation:idempotencyKey:attributes:_:)``.
///
/// ```swift
/// try await storage.write(reason: "rename") { tx in
///     guard var user = try tx.get(User.self, id: "1") else { return }
///     user.name = "Anna"
///     try tx.save(user)
/// }
/// ```
///
/// It reads with the calls of ``TransactionReader``, and sees its own changes. Full-text indexes are updated when it commits,
/// so search before or after it.
///
/// Every call throws ``StorageError``: `conflict` if a constraint of the table is broken, `invalid-value` for NaN and other values that can't be
/// stored, `not-found` if the entity has no table because it wasn't declared when the store was opened, `database` if SQLite refuses the statement,
/// and `io-error` if the disk fails. The changes of a call that throws are undone, except that of several statements in one
/// `execute` those before the failed one remain, and of that one what it did before a trigger ran `RAISE(FAIL)` or a constraint with
/// `ON CONFLICT FAIL` refused a row; the transaction continues if the body catches the error. While a statement
/// with `RETURNING` isn't read to its end, a call that saves several rows throws, and one that changes a single row too if a trigger or a table, also a
/// temporary one, has such a `FAIL`.
///
/// A text with a NUL character (`invalid-value`) and a value or commit beyond ``Limits`` (`limit-exceeded`) are found when their event is recorded:
/// the write fails as a whole, at the latest when its body has ended.
///
/// Not `Sendable`: it is valid only inside the body.
public struct WriteTransaction: TransactionReader {
    package let writer: LogWriter
    /// The connection, for SQL of your own. What it changes in entity tables is captured like any other change.
    ///
    /// Leave `BEGIN`, `COMMIT` and `ROLLBACK` to StorageKit; savepoints are fine.
    public let database: GRDB.Database

    package init(writer: LogWriter, database: GRDB.Database) {
        self.writer = writer
        self.database = database
    }

    /// The time of a row that is written now.
    var now: Date { Date(microseconds: writer.configuration.clock.microseconds) }

    /// Inserts or updates an entity's row.
    ///
    /// - Throws: ``StorageError`` as ``WriteTransaction`` says.
    public func save<E: RegisteredEntity>(_ entity: E) throws {
        let table = EntityTableCache.of(E.Record.self)
        try StorageError.explaining(table: table.name) {
            try writer.atomically {
                try table.save(CollectionOfOne(entity), now: now, with: writer)
            }
        }
    }

    /// Inserts or updates many rows: all of them or none. A statement with RETURNING must be read to its end first.
    ///
    /// - Throws: ``StorageError`` as ``WriteTransaction`` says.
    public func save<E: RegisteredEntity>(_ entities: [E]) throws {
        let table = EntityTableCache.of(E.Record.self)
        try StorageError.explaining(table: table.name) {
            let save = { try table.save(entities, now: now, with: writer) }
            return entities.count > 1
                ? try writer.inSavepoint(save) : try writer.atomically(save)
        }
    }

    /// Inserts or updates a row if it meets a precondition.
    ///
    /// - Throws: ``StorageError`` with `conflict` if it doesn't; also as ``WriteTransaction`` says.
    public func save<E: RegisteredEntity>(_ entity: E, expecting expected: RowPrecondition) throws {
        try check(E.self, id: entity.id, expected)
        try save(entity)
    }

    /// Returns the entity with this id as this transaction sees it; nil if there is none.
    ///
    /// - Throws: ``StorageError`` as ``TransactionReader`` says.
    public func get<E: RegisteredEntity>(_ type: E.Type, id: E.Id) throws -> E? {
        let table = EntityTableCache.of(E.Record.self)
        let statement = try StorageError.explaining(table: table.name) { try writer.statement(table.selectByKey) }
        try statement.writer.bind(E.Record.key(of: id), at: 1)
        defer { statement.reset() }
        return try statement.step() ? try E.Record(reading: statement.row).asEntity() : nil
    }

    /// Deletes the row with this id; does nothing if there is none.
    ///
    /// - Throws: ``StorageError`` as ``WriteTransaction`` says.
    public func delete<E: RegisteredEntity>(_ type: E.Type, id: E.Id) throws {
        let table = EntityTableCache.of(E.Record.self)
        try StorageError.explaining(table: table.name) {
            try writer.atomically { try table.delete(E.Record.key(of: id), with: writer) }
        }
    }

    /// Deletes the row with this id if it meets a precondition.
    ///
    /// - Throws: ``StorageError`` with `conflict` if it doesn't; also as ``WriteTransaction`` says.
    public func delete<E: RegisteredEntity>(_ type: E.Type, id: E.Id, expecting expected: RowPrecondition) throws {
        try check(type, id: id, expected)
        try delete(type, id: id)
    }

    /// Deletes an entity's row.
    ///
    /// - Throws: ``StorageError`` as ``WriteTransaction`` says.
    public func delete<E: RegisteredEntity>(_ entity: E) throws { try delete(E.self, id: entity.id) }

    /// Deletes every row of an entity.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted or changed.
    /// - Throws: ``StorageError`` as ``WriteTransaction`` says.
    @discardableResult
    public func deleteAll<E: RegisteredEntity>(_ type: E.Type) throws -> Int {
        let table = E.Record.databaseTableName
        try StorageError.explaining(table: table) {
            try writer.atomically { try writer.statement("DELETE FROM \(quoted(table))").execute() }
        }
        return database.changesCount
    }

    /// Deletes the rows whose column holds a value.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted or changed.
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``WriteTransaction`` says.
    @discardableResult
    public func deleteAll<E: RegisteredEntity, Value: StorageColumnValue>(
        _ type: E.Type, where column: String, equals value: Value
    ) throws -> Int {
        let table = EntityTableCache.of(E.Record.self)
        let sql = "DELETE FROM \(quoted(table.name)) WHERE \(try table.column(named: column)) IS ?1"
        let statement = try StorageError.explaining(table: table.name) { try writer.statement(sql) }
        try statement.writer.bind(value.argument(), at: 1)
        try writer.atomically { try statement.execute() }
        return database.changesCount
    }

    /// Runs SQL, with values bound as properties store them. Changes in entity tables are captured.
    ///
    /// As with all SQL, a column that gets a value converts it by its declared type: of the text `007` one declared `INTEGER` or
    /// `NUMERIC` makes 7. Calls such as `save` and `updateAll` refuse a value that wouldn't come back the same.
    ///
    /// ```swift
    /// try tx.execute("DELETE FROM posts WHERE createdAt < ?", [limit])
    /// ```
    ///
    /// - Throws: ``StorageError`` with `invalid-value` for a date that can't be stored and for NaN, which SQLite would turn
    ///   into NULL; also as ``WriteTransaction`` says.
    public func execute(_ sql: String, _ values: [(any StorageColumnValue)?]) throws {
        try execute(sql, StatementArguments(storing: values))
    }

    /// Runs SQL with arguments bound as GRDB binds them: dates are exact only to the millisecond.
    ///
    /// - Throws: ``StorageError`` as ``WriteTransaction`` says.
    public func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        do {
            try database.execute(sql: sql, arguments: arguments)
        } catch {
            throw StorageError.wrapping(error)
        }
    }

    private func check<E: RegisteredEntity>(_ type: E.Type, id: E.Id, _ expected: RowPrecondition) throws {
        let key = E.Record.key(of: id)
        let table = EntityTableCache.of(E.Record.self)
        let found = try StorageError.explaining(table: table.name) { try table.position(of: key, with: writer) }
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
