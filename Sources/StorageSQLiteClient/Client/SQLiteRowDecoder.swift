internal import Foundation
internal import StorageCore
internal import StorageRecords

/// Decodes a row by the names of its columns.
struct SQLiteRowDecoder: Decoder {
    let row: SQLiteRow
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SQLiteRowContainer(row: row))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.dataCorrupted(
            .init(codingPath: [], debugDescription: "A row is decoded by the names of its columns, not as a list."))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw DecodingError.dataCorrupted(
            .init(codingPath: [], debugDescription: "A row is decoded by the names of its columns, not as one value."))
    }
}

/// The columns of a row as keys.
private struct SQLiteRowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: SQLiteRow
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.columns.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { row.layout.index(of: key.stringValue) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { row.reader.isNull(at: try index(of: key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try column(type, key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try column(type, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try column(type, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try column(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try column(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try column(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try column(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try column(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try column(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try column(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try column(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try column(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try column(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try column(type, key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        // Sound to force: the value read is of the requested type, which is `Value`.
        if let type = type as? any StorageColumnValue.Type { return try column(type, key) as! Value }
        // Enumerations of numbers and texts, and other single values, are stored directly in the column.
        do {
            return try Value(from: SQLiteColumnDecoder(row: row, index: try index(of: key), codingPath: [key]))
        } catch is NotOneValue {
            let text = try column(String.self, key)
            do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch {
                throw mismatch(type, for: key, "the text isn't the JSON of a \(type)", cause: error)
            }
        }
    }

    private func column<Value: StorageColumnValue>(_ type: Value.Type, _ key: Key) throws -> Value {
        let index = try index(of: key)
        do { return try row.reader.read(type, at: index) } catch let error as StorageError {
            throw mismatch(type, for: key, error.message, cause: error)
        }
    }

    private func index(of key: Key) throws -> Int32 {
        guard let index = row.layout.index(of: key.stringValue) else {
            throw DecodingError.keyNotFound(
                key,
                .init(
                    codingPath: [],
                    debugDescription: "The row has no column \"\(key.stringValue)\": it has \(row.columns)."))
        }
        return index
    }

    private func mismatch(
        _ type: Any.Type, for key: Key, _ text: String, cause: any Error
    ) -> DecodingError {
        .typeMismatch(type, .init(codingPath: [key], debugDescription: text, underlyingError: cause))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw NotOneValue() }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw NotOneValue() }

    func superDecoder() throws -> any Decoder { throw NotOneValue() }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw NotOneValue() }
}

/// A type requests keys or a list, which a column can only contain as JSON.
private struct NotOneValue: Error {}

/// Decodes one column.
private struct SQLiteColumnDecoder: Decoder, SingleValueDecodingContainer {
    let row: SQLiteRow
    let index: Int32
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw NotOneValue() }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NotOneValue() }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { row.reader.isNull(at: index) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let type = type as? any StorageColumnValue.Type else { return try Value(from: self) }
        // Sound to force: the value read is of the requested type, which is `Value`.
        do { return try row.reader.read(type, at: index) as! Value } catch let error as StorageError {
            throw DecodingError.typeMismatch(
                type, .init(codingPath: codingPath, debugDescription: error.message, underlyingError: error))
        }
    }
}
