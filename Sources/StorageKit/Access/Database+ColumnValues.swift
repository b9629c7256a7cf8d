public import Foundation
public import GRDB
internal import StorageCore
public import StorageLog

// GRDB binds a date as text and a UUID as bytes, which columns of entities never hold: such a condition would be true for
// every row, or for none. Where StorageKit is imported, array literals of column values choose these instead, which bind
// what the columns hold.

extension GRDB.Database {
    /// Runs SQL with values bound as entities store them.
    ///
    /// ```swift
    /// try db.execute(sql: "DELETE FROM posts WHERE createdAt < ?", arguments: [limit])
    /// ```
    public func execute(sql: String, arguments: [(any StorageColumnValue)?]) throws {
        try execute(sql: sql, arguments: StatementArguments(storing: arguments))
    }
}

extension FetchableRecord {
    /// The records that SQL finds, values bound as entities store them.
    public static func fetchAll(
        _ db: GRDB.Database, sql: String, arguments: [(any StorageColumnValue)?]
    ) throws -> [Self] {
        try fetchAll(db, sql: sql, arguments: StatementArguments(storing: arguments))
    }

    /// The first record that SQL finds, values bound as entities store them.
    public static func fetchOne(
        _ db: GRDB.Database, sql: String, arguments: [(any StorageColumnValue)?]
    ) throws -> Self? {
        try fetchOne(db, sql: sql, arguments: StatementArguments(storing: arguments))
    }
}

extension DatabaseValueConvertible {
    /// The values of the first column, values bound as entities store them.
    public static func fetchAll(
        _ db: GRDB.Database, sql: String, arguments: [(any StorageColumnValue)?]
    ) throws -> [Self] {
        try fetchAll(db, sql: sql, arguments: StatementArguments(storing: arguments))
    }

    /// The first value of the first column, values bound as entities store them.
    public static func fetchOne(
        _ db: GRDB.Database, sql: String, arguments: [(any StorageColumnValue)?]
    ) throws -> Self? {
        try fetchOne(db, sql: sql, arguments: StatementArguments(storing: arguments))
    }
}

extension GRDB.Row {
    /// The rows that SQL finds, values bound as entities store them.
    public static func fetchAll(
        _ db: GRDB.Database, sql: String, arguments: [(any StorageColumnValue)?]
    ) throws -> [GRDB.Row] {
        try fetchAll(db, sql: sql, arguments: StatementArguments(storing: arguments))
    }

    /// The first row that SQL finds, values bound as entities store them.
    public static func fetchOne(
        _ db: GRDB.Database, sql: String, arguments: [(any StorageColumnValue)?]
    ) throws -> GRDB.Row? {
        try fetchOne(db, sql: sql, arguments: StatementArguments(storing: arguments))
    }
}

extension Date {
    /// The dates in the first column as entities store them; GRDB would take the numbers for seconds since 1970.
    public static func fetchAll(
        _ db: GRDB.Database, sql: String, arguments: [(any StorageColumnValue)?] = []
    ) throws -> [Date] {
        try Double.fetchAll(db, sql: sql, arguments: StatementArguments(storing: arguments))
            .map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    /// The first date in the first column as entities store it.
    public static func fetchOne(
        _ db: GRDB.Database, sql: String, arguments: [(any StorageColumnValue)?] = []
    ) throws -> Date? {
        try Double.fetchOne(db, sql: sql, arguments: StatementArguments(storing: arguments))
            .map { Date(timeIntervalSinceReferenceDate: $0) }
    }
}

extension StatementArguments {
    /// - Throws: `invalidValue` for NaN, which SQLite would turn into NULL.
    init(storing values: [(any StorageColumnValue)?]) throws {
        let values = values.map { $0?.storageValue ?? .null }
        for case .real(let value) in values where value.isNaN {
            throw StorageError(
                .invalidValue, "NaN can't be a value of SQL: SQLite has no NaN and would take NULL.",
                remedy: "Give nil, or another number that stands for it.")
        }
        self.init(values)
    }
}
