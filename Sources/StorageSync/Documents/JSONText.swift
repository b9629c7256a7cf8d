internal import StorageCore
internal import StorageLog

/// Encodes values as JSON text.
enum JSONText {
    static func of<Value: Encodable>(_ value: Value) throws -> String {
        guard case .text(let text) = try _StorageJSON.stored(value) else { return DocumentFields.null }
        return text
    }

    static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.text(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// A value in a query; null if it can't be encoded.
    static func ofQueried(_ value: any DMCodableSendable) -> String {
        (try? of(JSONValue(encoding: value))) ?? DocumentFields.null
    }

    /// Decodes a JSON string.
    static func string(_ json: String) throws -> String { try _StorageJSON.value(String.self, of: .text(json)) }
}
