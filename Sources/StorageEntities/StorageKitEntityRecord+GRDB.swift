internal import Foundation
internal import GRDB
public import StorageCore
public import StorageLog

// Defaults for existing GRDB records: they use the record's own `encode(to:)` and `init(row:)`, by column name. Records
// of `@StorageEntity` bind and read by index, which is several times as fast, and store dates exactly, where GRDB
// stores milliseconds.
extension StorageKitEntityRecord {
    /// Binds, for each column, the value that the record's `encode(to:)` sets; NULL if it sets none.
    ///
    /// A `Decimal` is encoded as text. A column of type `TEXT` keeps all of its digits. One of numbers keeps 15 significant digits,
    /// and GRDB may read others after them: 19.99 as 19.98999999999999488. That is saved as the number of 15 digits from which GRDB
    /// reads the same, so a save of a row changes 0.07000000000000002, which only SQL stores, to 0.07.
    ///
    /// - Throws: What `encode(to:)` throws; ``StorageError`` with `invalid-value` for a value that can't be stored,
    ///   such as NaN, that the column's type affinity would change, or from which a `Decodable` record couldn't be read.
    public func write(to row: RowWriter) throws {
        let values = try databaseDictionary
        var kept: [KeptValue] = []
        for (index, column) in Self.schemaColumns.enumerated() {
            let value = values[column.name].flatMap(StorageValue.fromDatabaseValue) ?? .null
            let next = try KeptValue(value, in: column)
            try row.bind(next.bound, at: Int32(index + 1))
            kept.append(next)
        }
        // A handwritten `init(row:)` may end the process for a value that it can't read. Mostly, records with one aren't Decodable.
        if Self.self is any Decodable.Type, kept.contains(where: \.isOfAnotherClass) { try checkIsReadable(kept) }
    }

    /// Reads a row with the record's `init(row:)`.
    ///
    /// - Throws: ``StorageError`` with `invalid-value` if a value doesn't fit its property's type.
    public init(reading row: RowReader) throws {
        do {
            try self.init(values: Self.schemaColumns.indices.map { row.value(at: Int32($0)) })
        } catch {
            throw StorageError(
                .invalidValue, "A row of \"\(Self.databaseTableName)\" isn't a \(Self.self): \(error)",
                remedy: "Correct the row with SQL, or change the property's type.", cause: error)
        }
    }

    /// - Parameter values: One per column.
    private init(values: [StorageValue]) throws {
        if Self.self is any Decodable.Type, values.contains(where: \.isInfinite) {
            try Self.refuseInfiniteDecimals(values)
        }
        try self.init(row: Self.row(values))
    }

    private static func row(_ values: [StorageValue]) -> GRDB.Row {
        var named: [String: (any DatabaseValueConvertible)?] = [:]
        for (column, value) in zip(schemaColumns, values) { named[column.name] = value }
        return GRDB.Row(named)
    }

    /// Foundation ends the process where GRDB makes a `Decimal` of an infinity.
    ///
    /// - Throws: ``InfiniteDecimal`` if the property of an infinity is a decimal, which reads the number 1 and encodes it as a text.
    private static func refuseInfiniteDecimals(_ values: [StorageValue]) throws {
        let record = try Self(row: row(values.map { $0.isInfinite ? .integer(1) : $0 }))
        // A record that is only read may not encode.
        guard let encoded = try? record.databaseDictionary else { return }
        for (column, value) in zip(schemaColumns, values)
        where value.isInfinite && encoded[column.name] == "1".databaseValue {
            throw InfiniteDecimal(column: column.name)
        }
    }

    /// Checks a record of which columns make numbers of texts, or texts of numbers: not every type reads both, as `Decimal` does.
    ///
    /// - Throws: `StorageError` with `invalid-value` if the record can't be read from what its columns store.
    private func checkIsReadable(_ kept: [KeptValue]) throws {
        do {
            _ = try Self(values: kept.map(\.stored))
        } catch {
            // Another value may keep it from being read: a NULL of which a trigger makes something.
            guard (try? Self(values: kept.map(\.encoded))) != nil else { return }
            let changes = zip(Self.schemaColumns, kept).filter { $0.1.isOfAnotherClass }.map { column, value in
                "\(value.encoded) would become \(value.stored) in \"\(column.name)\", which is declared \(column.type)"
            }
            throw StorageError(
                .invalidValue, "\(changes.joined(separator: "; ")). A \(Self.self) can't be read from that: \(error)",
                remedy: "Declare the column TEXT for texts, INTEGER or REAL for numbers.", cause: error)
        }
    }
}

private struct InfiniteDecimal: Error, CustomStringConvertible {
    let column: String
    var description: String { "\"\(column)\" holds an infinity, which no decimal is." }
}

/// A value that was encoded for a column.
private struct KeptValue {
    let encoded: StorageValue
    /// The value to bind.
    let bound: StorageValue
    /// What the column stores.
    let stored: StorageValue

    /// What SQLite makes of the value must be enough to restore it. A record may have a number in a text, as it does for a
    /// `Decimal`, and reads it from the number that a column makes of it.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that the column's type affinity would change.
    init(_ value: StorageValue, in column: ColumnSchema) throws {
        encoded = value
        let stored = ColumnAffinity(propertyType: column.type).conversion(of: value) ?? value
        if stored == value || stored.restores(value) {
            (self.bound, self.stored) = (value, stored)
        } else if case (.text(let text), .real(let number)) = (value, stored), let read = text.number(near: number) {
            (self.bound, self.stored) = (.real(read), .real(read))
        } else {
            throw StorageError(
                .invalidValue,
                "\(value) would become \(stored) in \"\(column.name)\", which is declared \(column.type).",
                remedy: "Declare the column TEXT for texts, REAL for fractions, or BLOB, which converts nothing.")
        }
    }

    /// Whether a text becomes a number, or a number a text.
    var isOfAnotherClass: Bool { encoded.isText != stored.isText }
}

extension StorageValue {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
    fileprivate var isInfinite: Bool { if case .real(let number) = self { number.isInfinite } else { false } }

    /// Whether converting the value back gives the original, where the zeros are equal.
    fileprivate func restores(_ original: StorageValue) -> Bool {
        switch (self, original) {
        case (.integer(let whole), .real(let number)): Double(whole) == number
        case (.real(let stored), .real(let number)): stored == number
        case (.real(let number), .integer): Int64(exactly: number).map(StorageValue.integer) == original
        case (.integer, .text): SQLiteNumber.text(self) == original
        case (.real(let number), .text(let text)): SQLiteNumber.text(self) == original || text.isDecimal(of: number)
        case (.text, _): SQLiteNumber.number(self) == original
        default: false
        }
    }
}

extension String {
    /// The decimal number of which this is the text, as GRDB writes it: without `+`, exponent, spaces or needless zeros.
    private var decimal: Decimal? {
        guard let decimal = Decimal.fromDatabaseValue(databaseValue), decimal.databaseValue == databaseValue
        else { return nil }
        return decimal
    }

    /// Whether the text is a decimal number, as GRDB writes it, with so few digits that each has a `Double` of its own, which is
    /// `number`. SQLite's text of it may differ: `1.0e-05` for 0.00001.
    fileprivate func isDecimal(of number: Double) -> Bool {
        guard decimal != nil, Double(self) == number else { return false }
        var digits = utf8.filter((UInt8(ascii: "0")...UInt8(ascii: "9")).contains).drop { $0 == UInt8(ascii: "0") }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        // GRDB reads a number that is too small or too large as NaN.
        return digits.count <= 15 && !Decimal(number).isNaN
    }

    /// The number that GRDB reads as the decimal with this text; nil if there is none close to `number`.
    ///
    /// The one of 15 digits comes first: of 19.98999999999999488 it is 19.99, which was stored before, unless SQL has stored one of more
    /// digits. GRDB's decimal may differ from its number by several of the last bits.
    fileprivate func number(near number: Double) -> Double? {
        guard let decimal, case .text(let short) = SQLiteNumber.text(.real(number)) else { return nil }
        var candidates = [Double(short) ?? number, number]
        var (below, above) = (number, number)
        for _ in 0..<5 {
            (below, above) = (below.nextDown, above.nextUp)
            candidates += [below, above]
        }
        return candidates.first { Decimal($0) == decimal }
    }
}

extension StorageKitEntityRecord where E.Id: StorageColumnValue {
    /// Returns the key as its column holds it.
    public static func key(of id: E.Id) -> StorageValue { id.storageValue }
}

extension StorageKitEntityRecord where E.Id: RawRepresentable, E.Id.RawValue: StorageColumnValue {
    /// Returns the key's raw value as its column holds it.
    @_disfavoredOverload
    public static func key(of id: E.Id) -> StorageValue { id.rawValue.storageValue }
}
