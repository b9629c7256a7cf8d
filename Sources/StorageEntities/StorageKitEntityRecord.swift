public import Foundation
public import GRDB
public import StorageCore
public import StorageLog

/// How an entity looks in its table: the companion that `@StorageEntity` writes, or that you write by hand.
///
/// Values are bound and read by index, in the order of ``schemaColumns``.
public protocol StorageKitEntityRecord: FetchableRecord, PersistableRecord, Sendable {
    /// The entity.
    associatedtype E: StorageKitEntity
    /// The columns by name, each a `StorageColumn` of its Swift type, for the conditions of queries. A hand-written
    /// record may omit it and name columns as text.
    associatedtype Columns: Sendable = NoColumns
    /// The column names that calls such as `order(by: .createdAt)` take: a case for each column of a property, whose
    /// raw value is the column's stored name. A hand-written record may omit it.
    associatedtype ColumnName: RawRepresentable & Sendable = NoColumnName where ColumnName.RawValue == String

    /// The columns by name.
    static var columns: Columns { get }
    /// The columns of the table, in order; the one of `id` is the primary key, `updatedAt` the last.
    static var schemaColumns: [ColumnSchema] { get }
    /// The entity, without values that only the table has.
    func asEntity() -> E
    /// The record of an entity that is saved at `now`.
    static func from(_ entity: E, now: Date) -> Self

    /// Fills one parameter per column, from index 1 on.
    ///
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    func write(to row: RowWriter) throws
    /// Reads one column per declared column, from index 0 on.
    ///
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that holds something else.
    init(reading row: RowReader) throws
    /// The entities of all rows that a statement finds. There is a default; it is a requirement so that the loop is
    /// specialised for each record, without dynamic dispatch for every row.
    ///
    /// - Throws: As ``init(reading:)``; errors of SQLite.
    static func entities(reading rows: StatementRows) throws -> [E]
    /// Whether the last column is an `updatedAt` that StorageKit keeps: it moves only when another column changes.
    static var stampsUpdatedAt: Bool { get }
    /// The foreign-key column of a relationship: of the other entity for one to many, of this one for a parent.
    static func foreignKey(of path: PartialKeyPath<E>) -> String?
    /// The key as the table keeps it.
    static func key(of id: E.Id) -> StorageValue
}

/// The default for a record that doesn't declare its columns by name.
public struct NoColumns: Sendable {
    /// Creates the value.
    public init() {}
}

/// The default for a record that doesn't declare its columns as cases: there is no value of it.
public enum NoColumnName: RawRepresentable, Sendable {
    /// Always nil.
    public init?(rawValue: String) { nil }

    public var rawValue: String {
        switch self {}
    }
}

extension StorageKitEntityRecord where Columns == NoColumns {
    /// No columns.
    public static var columns: NoColumns { NoColumns() }
}

extension StorageKitEntityRecord {
    /// Nil: the record declares no relationships.
    public static func foreignKey(of path: PartialKeyPath<E>) -> String? { nil }

    /// The entities of all rows that a statement finds.
    ///
    /// - Throws: As ``init(reading:)``; errors of SQLite.
    @inlinable
    public static func entities(reading rows: StatementRows) throws -> [E] {
        var entities: [E] = []
        while try rows.next() { entities.append(try Self(reading: rows.row).asEntity()) }
        return entities
    }

    /// Whether the last column is an `updatedAt` that StorageKit keeps: it moves only when another column changes.
    public static var stampsUpdatedAt: Bool { schemaColumns.last?.name == "updatedAt" }
}
