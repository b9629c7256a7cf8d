internal import Foundation
internal import StorageCore
internal import StorageLog

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let values = try? container.decode([JSONValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let fields): try container.encode(fields)
        }
    }
}

extension JSONValue {
    /// Encodes a value. Dates become seconds since 2001, since numbers sort correctly, and the texts that
    /// ``StorageJSON`` writes don't.
    ///
    /// - Throws: `StorageError` with the code `invalidValue` if it can't be encoded as JSON.
    /// - Complexity: O(*n*) in the bytes of the JSON, which is written and read once.
    package init(encoding value: some Encodable) throws {
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
        } catch {
            throw StorageError(
                .invalidValue, "A \(type(of: value)) can't be written as JSON.",
                remedy: "JSON has no infinities and no NaN; keep them out of documents and queries.", cause: error)
        }
    }

    /// Decodes a value. Dates may be seconds, or the texts that ``StorageJSON`` writes.
    ///
    /// - Throws: `StorageError` with the code `invalidValue` if this doesn't decode as the type.
    package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try _StorageJSON.value(type, of: .text(String(decoding: try JSONEncoder().encode(self), as: UTF8.self)))
    }
}

/// Whether two values of queries have the same JSON. Values that can't be encoded are compared by their descriptions,
/// so that a query equals itself.
func haveSameJSON(_ left: any DMCodableSendable, _ right: any DMCodableSendable) -> Bool {
    guard let a = try? JSONValue(encoding: left), let b = try? JSONValue(encoding: right) else {
        return String(reflecting: left) == String(reflecting: right)
    }
    return a == b
}
