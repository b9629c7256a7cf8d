internal import Foundation
internal import StorageCore

/// A decoder that returns sample values and records the requested properties.
///
/// Not `Sendable`: it is used while one type decodes itself.
final class EmbeddedProbe: Decoder {
    var columns: [EmbeddedSchema.Column] = []
    var problem: String?
    /// The property that gets a different value than usual.
    let varying: String?
    /// The value that it got.
    var varied: Any?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(varying: String?) { self.varying = varying }

    struct Refusal: Error {}

    func refuse(_ reason: String) -> Refusal {
        problem = problem ?? reason
        return Refusal()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>(probe: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw refuse("an embedded type must decode its properties by name, not as a list")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw refuse("an embedded type must decode its properties by name, not as one value")
    }

    private func note<Value: Decodable>(_ type: Value.Type, _ key: any CodingKey, isNullable: Bool) throws {
        guard !columns.contains(where: { $0.name == key.stringValue }) else { return }
        let (stored, neutral) = try column(type, key)
        columns.append(
            EmbeddedSchema.Column(
                name: key.stringValue, type: stored.columnType, coding: stored.columnCoding, isNullable: isNullable,
                neutral: isNullable ? .none : neutral, property: ObjectIdentifier(type),
                conversionProblem: stored.conversionProblem))
    }

    /// The column of a property: its type, and the value of older rows.
    private func column(
        _ type: any Decodable.Type, _ key: any CodingKey
    ) throws -> (type: any StorageColumnValue.Type, neutral: StorageValue?) {
        if let value = type as? any StorageColumnValue.Type { return (value, value.neutral?.storageValue) }
        if let raw = type as? any RawRepresentable.Type, let column = rawColumn(raw) { return column }
        if type is any Embeddable.Type {
            throw refuse("\"\(key.stringValue)\" is embedded itself, and only one level is")
        }
        throw refuse("\"\(key.stringValue)\" is a \(type), which fills no column")
    }

    private func rawColumn<Raw: RawRepresentable>(
        _ type: Raw.Type
    ) -> (type: any StorageColumnValue.Type, neutral: StorageValue?)? {
        guard let column = Raw.RawValue.self as? any StorageColumnValue.Type else { return nil }
        let isCase = (column.neutral as? Raw.RawValue).flatMap { Raw(rawValue: $0) } != nil
        return (column, isCase ? column.neutral?.storageValue : .none)
    }

    fileprivate func value<Value: Decodable>(_ type: Value.Type, _ key: any CodingKey) throws -> Value {
        try note(type, key, isNullable: false)
        return try sample(type, key)
    }

    fileprivate func optional<Value: Decodable>(_ type: Value.Type, _ key: any CodingKey) throws -> Value? {
        try note(type, key, isNullable: true)
        guard varying == key.stringValue else { return nil }
        // Any value differs from nil, the usual one.
        if let value = Self.sample(type, true) ?? Self.sample(type, false) ?? Self.rawSample(type) {
            varied = value
            return value
        }
        return try sample(type, key)
    }

    /// A sample value of a type: the usual one, or a different one for the property that varies.
    private func sample<Value: Decodable>(_ type: Value.Type, _ key: any CodingKey) throws -> Value {
        let varies = varying == key.stringValue
        guard let value = Self.sample(type, varies) else {
            throw refuse(
                "\"\(key.stringValue)\" is a \(type), of which no value can be guessed: make it CaseIterable or optional"
            )
        }
        if varies { varied = value }
        return value
    }

    private static func sample<Value: Decodable>(_ type: Value.Type, _ varies: Bool) -> Value? {
        if let cases = type as? any CaseIterable.Type, let value = pick(cases, varies) as? Value { return value }
        guard let column = type as? any StorageColumnValue.Type else { return nil }
        // The varying property gets a value that no usual computation preserves: no trimming, no rounding, no change of sign.
        let candidates: [StorageValue] =
            switch column.columnType {
            case "TEXT": varies ? [.text(" Bb "), .text("b")] : [.text("a")]
            case "REAL": [.real(varies ? -1.25 : 0)]
            case "DATETIME": [Date(timeIntervalSinceReferenceDate: varies ? -1.25 : 0).storageValue]
            case "BLOB": [.blob(Data(varies ? [1] : [])), .blob(Data(repeating: varies ? 2 : 1, count: 16))]
            default: varies ? [.integer(-101), .integer(101), .integer(1)] : [.integer(0)]
            }
        for candidate in candidates {
            if let value = try? column.init(storageValue: candidate) as? Value { return value }
        }
        return nil
    }

    /// A value of a type with raw values, if one of a few belongs to a case.
    private static func rawSample<Value: Decodable>(_ type: Value.Type) -> Value? {
        guard let raw = type as? any RawRepresentable.Type else { return nil }
        return firstCase(raw) as? Value
    }

    private static func firstCase<Raw: RawRepresentable>(_ type: Raw.Type) -> Raw? {
        guard let column = Raw.RawValue.self as? any StorageColumnValue.Type else { return nil }
        let candidates: [StorageValue] =
            column.columnType == "TEXT"
            ? "abcdefghijklmnopqrstuvwxyz".map { .text(String($0)) } : (-1...32).map { .integer($0) }
        for candidate in candidates {
            let value = (try? column.init(storageValue: candidate)) as? Raw.RawValue
            if let sample = value.flatMap({ Raw(rawValue: $0) }) { return sample }
        }
        return nil
    }

    private static func pick<Cases: CaseIterable>(_ type: Cases.Type, _ varies: Bool) -> Cases? {
        varies ? type.allCases.dropFirst().first : type.allCases.first
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let probe: EmbeddedProbe
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) throws -> Bool { false }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try probe.value(type, key) }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { try probe.value(type, key) }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try probe.value(type, key) }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try probe.value(type, key) }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try probe.value(type, key) }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try probe.value(type, key) }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try probe.value(type, key) }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try probe.value(type, key) }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try probe.value(type, key) }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try probe.value(type, key) }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try probe.value(type, key) }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try probe.value(type, key) }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try probe.value(type, key) }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try probe.value(type, key) }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try probe.value(type, key) }
        func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try probe.optional(type, key) }
        func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try probe.optional(type, key) }
        func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
            try probe.optional(type, key)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            throw probe.refuse("\"\(key.stringValue)\" has parts of its own, and only one level is embedded")
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw probe.refuse("\"\(key.stringValue)\" is a list, which fills no column")
        }

        func superDecoder() throws -> any Decoder { throw probe.refuse("an embedded type can't have a superclass") }
        func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
    }
}
