internal import StorageCore
internal import StorageLog

/// Encodes values as JSON text.
enum JSONText {
    static func of<Value: Encodable>(_ value: Value) throws -> String {
        guard case .text(let text) = try StorageJSON.stored(value) else { return DocumentFields.null }
        return text
    }

    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        quote(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes as `JSONEncoder` does: fields are compared by their texts.
    static func quote(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0..<0x20: bytes += "\\u00\(Hexadecimal.text([byte]))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A value in a query; null if it can't be encoded.
    static func ofQueried(_ value: any DMCodableSendable) -> String {
        (try? of(JSONValue(encoding: value))) ?? DocumentFields.null
    }

    /// Decodes a JSON string.
    static func string(_ json: String) throws -> String { try StorageJSON.value(String.self, of: .text(json)) }

    static func isValid(_ json: String) -> Bool { JSONReader.isValid(json) }
}
