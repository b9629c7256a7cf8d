internal import Foundation
public import GRDB
public import StorageCore

/// Columns that hold any `Codable` value as JSON text; what `@StorageJSON` writes calls these, and
/// nothing else should.
///
/// Keys are sorted, so that saving an unchanged value writes nothing. A `Set`, or a dictionary whose keys aren't texts or
/// integers, is written in its own order, which may differ from one run of a program to the next; then saving it again is a
/// change. Dates are ISO 8601 with as many fractional digits as they need; a date that can't be written so, such as one beyond
/// the year 9999, is its number of seconds since 2001-01-01 UTC.
public enum _StorageJSON {
    /// The column of a property. Older rows hold `value`, or an empty list or object if the type decodes from one.
    public static func column<Value: Codable>(
        _ name: String, _ type: Value.Type, default value: Value? = nil
    ) -> ColumnSchema {
        let isRequired = !(type is any ExpressibleByNilLiteral.Type)
        do {
            let empty: [StorageValue] = isRequired ? [.text("[]"), .text("{}")] : []
            return ColumnSchema(
                name: name, type: String.columnType, notNull: isRequired,
                defaultValue: try value.map { try stored($0).literal },
                neutralValue: empty.first { (try? self.value(type, of: $0)) != nil }?.literal)
        } catch {
            // A store that has the column already doesn't need the value.
            var column = ColumnSchema(
                name: name, type: String.columnType, notNull: isRequired, defaultValue: nil, neutralValue: nil)
            column.creationProblem = "the value of \"\(name)\" can't be written as JSON"
            return column
        }
    }

    /// Binds a value as JSON.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that can't be encoded as JSON.
    public static func write<Value: Codable>(_ value: Value, to row: RowWriter, at index: Int32) throws {
        try row.bind(try stored(value), at: index)
    }

    /// Reads a value from JSON.
    ///
    /// - Throws: `StorageError` with `invalid-value` for JSON that doesn't decode as the type.
    public static func read<Value: Codable>(_ type: Value.Type, from row: RowReader, at index: Int32) throws -> Value {
        try value(type, of: row.value(at: index))
    }

    public static func encode<Value: Codable>(
        _ value: Value, to container: inout GRDB.PersistenceContainer, _ column: String
    ) throws {
        try _ColumnCoding.put(try stored(value), to: &container, column)
    }

    /// Reads a value from JSON in a row of GRDB.
    ///
    /// - Throws: `StorageError` with `invalid-value` for JSON that doesn't decode as the type.
    public static func decode<Value: Codable>(_ type: Value.Type, from row: GRDB.Row, _ column: String) throws -> Value
    {
        try value(type, of: _ColumnCoding.storageValue(row, column))
    }

    /// A value as it is stored: JSON text, or NULL for nil.
    ///
    /// - Parameter allowsNonFinite: Whether infinities and NaN are written as a marker, see ``hasNonFinite(_:)``, instead of
    ///   being refused.
    package static func stored<Value: Encodable>(
        _ value: Value, allowsNonFinite: Bool = false
    ) throws(StorageError) -> StorageValue {
        if let optional = value as? any OptionalValue, optional.isNil { return .null }
        let encoder = JSONEncoder()
        if allowsNonFinite {
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: nonFinite, negativeInfinity: nonFinite, nan: nonFinite)
        }
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            if let text = ExactDate.text(date) {
                try container.encode(text)
            } else {
                try container.encode(date.timeIntervalSinceReferenceDate)
            }
        }
        do {
            let json = try encoder.encode(value)
            if !allowsNonFinite, hasNaN(json) {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: [], debugDescription: "A Decimal in it is NaN."))
            }
            return .text(String(decoding: json, as: UTF8.self))
        } catch {
            throw StorageError(
                .invalidValue, "A \(Value.self) can't be written as JSON: \(error)",
                remedy: "JSON has no infinities and no NaN; keep them out, or store the property as columns.",
                cause: error)
        }
    }

    /// Written for a number that JSON can't express. A document's text hardly begins with a NUL.
    private static let nonFinite = "\u{0}not finite"

    /// Whether JSON that was written with `allowsNonFinite` contains an infinity or NaN, at any depth.
    package static func hasNonFinite(_ json: String) -> Bool {
        json.contains(#""\u0000not finite""#) || hasNaN(Data(json.utf8))
    }

    /// Whether JSON contains `NaN`, which the encoder writes for a `Decimal` and no decoder reads. No other JSON has an `N`
    /// outside of a text.
    private static func hasNaN(_ json: Data) -> Bool {
        var isText = false
        var isEscaped = false
        return json.contains { byte in
            if isEscaped {
                isEscaped = false
                return false
            }
            if byte == UInt8(ascii: "\"") { isText.toggle() }
            isEscaped = byte == UInt8(ascii: "\\")
            return byte == UInt8(ascii: "N") && !isText
        }
    }

    package static func value<Value: Decodable>(_ type: Value.Type, of stored: StorageValue) throws -> Value {
        if stored == .null, let none = (type as? any OptionalValue.Type)?.none as? Value { return none }
        guard case .text(let text) = stored else {
            throw StorageError(
                .invalidValue, "A column of \(Value.self) holds \(stored) where JSON is expected.",
                remedy: "Correct the row with SQL.")
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            if let seconds = try? container.decode(Double.self) { return Date(timeIntervalSinceReferenceDate: seconds) }
            let text = try container.decode(String.self)
            guard let date = ExactDate.date(text) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "\(text) isn't an ISO 8601 date"))
            }
            return date
        }
        do {
            return try decoder.decode(type, from: Data(text.utf8))
        } catch {
            throw StorageError(
                .invalidValue, "The JSON \(text.prefix(200)) isn't a \(Value.self): \(error)",
                remedy: "Correct the row with SQL, or let the type decode what it was before.", cause: error)
        }
    }
}

/// Distinguishes nil of any optional type.
private protocol OptionalValue {
    var isNil: Bool { get }
    static var none: Self { get }
}

extension Optional: OptionalValue {
    fileprivate var isNil: Bool { self == nil }
}

/// Dates as ISO 8601 text that converts to the same date, bit for bit.
private enum ExactDate {
    /// The range of dates that ISO 8601 writes with four-digit years, in seconds.
    private static let writable = -63_000_000_000.0...252_000_000_000.0

    /// The date as text: the whole second as usual, and the fraction as the shortest text for the same number. nil if the text
    /// wouldn't convert to the same date.
    static func text(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard writable.contains(seconds) else { return nil }
        let whole = seconds.rounded(.down)
        var text = Date(timeIntervalSinceReferenceDate: whole).formatted(.iso8601)
        // The digits after the point, added to the whole second, give the date again.
        if whole != seconds { text = text.dropLast() + "." + fraction(seconds, whole) + "Z" }
        return self.date(text) == date ? text : nil
    }

    private static func fraction(_ seconds: Double, _ whole: Double) -> String {
        for digits in 1...17 {
            let text = String(format: "%.\(digits)f", seconds - whole)
            if text.hasPrefix("0."), whole + (Double(text) ?? -1) == seconds { return String(text.dropFirst(2)) }
        }
        return String(String(format: "%.20f", seconds - whole).dropFirst(2))
    }

    static func date(_ text: String) -> Date? {
        guard let point = text.firstIndex(of: ".") else { return try? Date(text, strategy: .iso8601) }
        let end = text[point...].dropFirst().firstIndex { !$0.isNumber } ?? text.endIndex
        guard let second = try? Date(String(text[..<point] + text[end...]), strategy: .iso8601),
            let rest = Double("0" + text[point..<end])
        else { return nil }
        return Date(timeIntervalSinceReferenceDate: second.timeIntervalSinceReferenceDate + rest)
    }
}
