internal import Foundation
public import GRDB
public import StorageCore

/// Values in the form in which columns hold them, as arguments and results of SQL.
///
/// A `Date` that GRDB binds is rounded to milliseconds; its `storageValue` is the date itself:
///
/// ```swift
/// try db.execute(sql: "DELETE FROM posts WHERE createdAt = ?", arguments: [date.storageValue])
/// ```
extension StorageValue: DatabaseValueConvertible {
    /// The value as GRDB binds it.
    public var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .blob(let value): value.databaseValue
        }
    }

    /// The value that GRDB has read.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> StorageValue? {
        switch value.storage {
        case .null: .null
        case .int64(let value): .integer(value)
        case .double(let value): .real(value)
        case .string(let value): .text(value)
        case .blob(let value): .blob(value)
        }
    }
}
