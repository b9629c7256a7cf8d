internal import Foundation
public import StorageCore

extension ColumnSchema {
    /// The column of a property, with its SQL type and nullability derived from the property's Swift type.
    @inlinable
    public init<Value: StorageColumnValue>(
        _ name: String, _ type: Value.Type, primaryKey: Bool = false, default value: Value? = nil
    ) {
        self.init(
            name, of: type, notNull: !Value.isNullable, primaryKey: primaryKey, default: value,
            neutral: Value.neutralLiteral)
    }

    @inlinable
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value.Type, primaryKey: Bool = false, default value: Value? = nil
    )
    where Value.RawValue: StorageColumnValue {
        self.init(
            name, of: Value.RawValue.self, notNull: true, primaryKey: primaryKey, default: value?.rawValue,
            neutral: Value.RawValue.neutral.flatMap { Value(rawValue: $0) }.map(\.rawValue.storageValue.literal))
    }

    @inlinable
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value?.Type, primaryKey: Bool = false, default value: Value? = nil
    )
    where Value.RawValue: StorageColumnValue {
        self.init(
            name, of: Value.RawValue.self, notNull: false, primaryKey: primaryKey, default: value?.rawValue,
            neutral: nil)
    }

    @inlinable
    public init<Value: RawRepresentable & StorageColumnValue>(
        _ name: String, _ type: Value.Type, primaryKey: Bool = false, default value: Value? = nil
    )
    where Value.RawValue: StorageColumnValue {
        self.init(
            name, of: type, notNull: !Value.isNullable, primaryKey: primaryKey, default: value,
            neutral: Value.neutralLiteral)
    }

    @inlinable
    public init<Value: RawRepresentable & StorageColumnValue>(
        _ name: String, _ type: Value?.Type, primaryKey: Bool = false, default value: Value? = nil
    )
    where Value.RawValue: StorageColumnValue {
        self.init(name, of: Value.self, notNull: false, primaryKey: primaryKey, default: value, neutral: nil)
    }

    @usableFromInline
    init<Stored: StorageColumnValue>(
        _ name: String, of type: Stored.Type, notNull: Bool, primaryKey: Bool, default value: Stored?, neutral: String?
    ) {
        let stored: StorageValue?
        var creationProblem = Stored.conversionProblem.map { "of \"\(name)\", \($0)" }
        do {
            stored = try value?._storable()
        } catch {
            stored = nil
            creationProblem = "the value of \"\(name)\" can't be stored: \(error.message)"
        }
        switch stored {
        case .text(let text) where text.utf8.contains(0):
            self.init(
                name: name, type: Stored.columnType,
                problem: "the value of \"\(name)\" contains NUL, which no column's default can")
        case .real(let number) where number.isNaN:
            self.init(
                name: name, type: Stored.columnType,
                problem: "the value of \"\(name)\" is NaN, or a date outside of the years 0 to 9999")
        default:
            self.init(
                name: name, type: Stored.columnType, notNull: notNull, primaryKey: primaryKey,
                defaultValue: stored.map { $0.literal }, neutralValue: neutral,
                coding: Stored.columnCoding)
            self.creationProblem = creationProblem
        }
    }
}

extension StorageColumnValue {
    /// The type's zero, empty text or empty bytes, if it has such a value.
    @usableFromInline static var neutral: Self? {
        let value: StorageValue =
            switch columnType {
            case "TEXT": .text("")
            case "BLOB": .blob(Data())
            case "REAL": .real(0)
            case "DATETIME": Date(timeIntervalSinceReferenceDate: 0).storageValue
            default: .integer(0)
            }
        return try? Self(storageValue: value)
    }

    @usableFromInline static var neutralLiteral: String? { neutral.map { $0.storageValue.literal } }
}

extension StorageValue {
    /// The value as an SQL literal.
    @usableFromInline var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let value): value.isNaN ? "NULL" : value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999"
        case .text(let value): value.quotedAsText
        case .blob(let value): "x'\(Hexadecimal.text(value))'"
        }
    }
}
