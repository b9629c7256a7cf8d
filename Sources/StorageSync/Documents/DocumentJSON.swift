internal import Foundation
internal import StorageCore
internal import StorageLog

/// Documents as a service sends and receives them: JSON in the form in which they are stored and compared, with dates
/// as text.
package enum DocumentJSON {
    package static func data<Value: Encodable>(_ value: Value) throws -> Data { Data(try JSONText.of(value).utf8) }

    /// Encodes some fields of a document, whose types aren't known.
    package static func data(fields: [String: any DMCodableSendable]) throws -> Data {
        let members = try fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { "\(JSONText.quoted($0.key)):\(try JSONText.of($0.value))" }
        return Data("{\(members.joined(separator: ","))}".utf8)
    }

    /// Encodes a value as JSON text.
    package static func text(_ value: any DMCodableSendable) throws -> String { try JSONText.of(value) }

    package static func value<Value: Decodable>(_ type: Value.Type = Value.self, of data: Data) throws -> Value {
        try _StorageJSON.value(type, of: .text(String(decoding: data, as: UTF8.self)))
    }

    /// The JSON text at a path of keys.
    ///
    /// - Parameter path: Keys separated by dots.
    /// - Returns: nil if there is no value, or null.
    /// - Throws: `invalid-value` if a value along the path isn't an object.
    package static func text(at path: String, in data: Data) throws -> String? {
        var text: String? = String(decoding: data, as: UTF8.self)
        for key in path.fieldPath { text = try text.flatMap { try DocumentFields(json: $0).values[key] } }
        return text
    }
}
