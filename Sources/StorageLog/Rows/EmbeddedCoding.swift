internal import Foundation
internal import StorageCore

/// Splits an embedded value into the values of its columns.
final class EmbeddedEncoder: Encoder {
    var values: [String: StorageValue] = [:]
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Keyed<Key>(encoder: self))
    }

    // The columns were determined by decoding by name. A type that encodes itself in another way leaves its columns without
    // values, which is refused when they are bound.
    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer() }

    fileprivate func put<Value: Encodable>(_ value: Value, _ key: any CodingKey) throws {
        if let column = value as? any StorageColumnValue {
            values[key.stringValue] = try column._storable()
        } else if let raw = value as? any RawRepresentable, let column = raw.rawValue as? any StorageColumnValue {
            values[key.stringValue] = try column._storable()
        } else {
            throw StorageError(
                .invalidValue, "\"\(key.stringValue)\" is a \(Value.self), which fills no column.",
                remedy: "Embed properties of plain types only.")
        }
    }

    private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: EmbeddedEncoder
        var codingPath: [any CodingKey] { [] }

        mutating func encodeNil(forKey key: Key) throws { encoder.values[key.stringValue] = .null }
        mutating func encode(_ value: Bool, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: String, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: Double, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: Float, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: Int, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: Int8, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: Int16, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: Int32, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: Int64, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: UInt, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: UInt8, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: UInt16, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: UInt32, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode(_ value: UInt64, forKey key: Key) throws { try encoder.put(value, key) }
        mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try encoder.put(value, key) }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(Keyed<Nested>(encoder: EmbeddedEncoder())) }
        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer() }
        mutating func superEncoder() -> any Encoder { EmbeddedEncoder() }
        mutating func superEncoder(forKey key: Key) -> any Encoder { EmbeddedEncoder() }
    }
}

/// Assembles an embedded value from the values of its columns.
final class EmbeddedDecoder: Decoder {
    private let values: [String: StorageValue]
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ values: [String: StorageValue]) { self.values = values }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw EmbeddedProbe.Refusal() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw EmbeddedProbe.Refusal() }

    fileprivate func value<Value: Decodable>(_ type: Value.Type, _ key: any CodingKey) throws -> Value {
        let stored = values[key.stringValue] ?? .null
        if let column = type as? any StorageColumnValue.Type,
            let value = try column.init(storageValue: stored) as? Value
        {
            return value
        }
        if let raw = type as? any RawRepresentable.Type, let value = try Self.value(raw, stored) as? Value {
            return value
        }
        throw StorageError(
            .invalidValue, "Column \"\(key.stringValue)\" holds \(stored), which isn't a \(Value.self).",
            remedy: "Correct the row with SQL, or change the property's type.")
    }

    private static func value<Raw: RawRepresentable>(_ type: Raw.Type, _ stored: StorageValue) throws -> Raw? {
        guard let column = Raw.RawValue.self as? any StorageColumnValue.Type,
            let raw = try column.init(storageValue: stored) as? Raw.RawValue
        else { return nil }
        return Raw(rawValue: raw)
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: EmbeddedDecoder
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { decoder.values.keys.compactMap { Key(stringValue: $0) } }

        func contains(_ key: Key) -> Bool { decoder.values[key.stringValue] != nil }
        func decodeNil(forKey key: Key) throws -> Bool { decoder.values[key.stringValue] ?? .null == .null }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.value(type, key) }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.value(type, key) }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.value(type, key) }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder.value(type, key) }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.value(type, key) }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.value(type, key) }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.value(type, key) }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.value(type, key) }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.value(type, key) }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.value(type, key) }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.value(type, key) }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.value(type, key) }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.value(type, key) }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.value(type, key) }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try decoder.value(type, key) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { throw EmbeddedProbe.Refusal() }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw EmbeddedProbe.Refusal()
        }
        func superDecoder() throws -> any Decoder { throw EmbeddedProbe.Refusal() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw EmbeddedProbe.Refusal() }
    }
}

/// Refuses all values.
private struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    private func refuse() -> StorageError {
        StorageError(
            .invalidValue, "An embedded type must encode its properties by name.",
            remedy: "Leave Codable to the compiler, or store the property as JSON with @StorageJSON.")
    }

    mutating func encodeNil() throws { throw refuse() }
    mutating func encode<T: Encodable>(_ value: T) throws { throw refuse() }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        EmbeddedEncoder().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    mutating func superEncoder() -> any Encoder { EmbeddedEncoder() }
}
