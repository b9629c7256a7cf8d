internal import StorageCore
internal import StorageLog
internal import StorageRecords

/// A document as it is sent and merged: the top-level keys of its JSON object, each with its value as JSON text.
///
/// Keys with a null value are omitted: to `Codable` both are the same nil. Values are equal only if their bytes are:
/// `String` would treat both spellings of é as equal.
struct DocumentFields: Sendable, Equatable {
    private(set) var values: [String: String]

    /// - Parameter values: JSON texts by key.
    init(_ values: [String: String] = [:]) { self.values = values.filter { $0.value != Self.null } }

    /// - Parameter allowsNonFinite: Whether infinities and NaN are written as a marker, see ``nonFiniteKeys``, instead of
    ///   being refused.
    /// - Throws: `invalid-value` if the document can't be written as a JSON object.
    init<Document: Encodable>(encoding document: Document, allowsNonFinite: Bool = false) throws {
        guard case .text(let text) = try _StorageJSON.stored(document, allowsNonFinite: allowsNonFinite) else {
            throw Self.noObject("null")
        }
        try self.init(json: text)
    }

    /// - Throws: `invalid-value` for anything but a JSON object.
    init(json: String) throws {
        var scanner = ObjectScanner(json)
        guard let values = scanner.fields() else { throw Self.noObject(json) }
        self.init(values)
    }

    /// The keys of values that contain an infinity or NaN, in order.
    var nonFiniteKeys: [String] { values.filter { _StorageJSON.hasNonFinite($0.value) }.keys.sorted() }

    /// The whole object, with sorted keys.
    var json: String {
        let fields = values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return "{" + fields.map { "\(JSONText.quoted($0.key)):\($0.value)" }.joined(separator: ",") + "}"
    }

    /// - Throws: `invalid-value` if the fields don't decode as such a document.
    func document<Document: Decodable>(_ type: Document.Type = Document.self) throws -> Document {
        try _StorageJSON.value(type, of: .text(json))
    }

    static func == (left: DocumentFields, right: DocumentFields) -> Bool {
        left.values.count == right.values.count && left.values.allSatisfy { right.has($0.value, for: $0.key) }
    }

    private func has(_ value: String, for key: String) -> Bool { values[key].map(ExactText.init) == ExactText(value) }

    /// The fields that turn `old` into this document; null for removed ones.
    func patch(from old: DocumentFields) -> [String: String] {
        var patch = values.filter { !old.has($0.value, for: $0.key) }
        for key in old.values.keys where values[key] == nil { patch[key] = Self.null }
        return patch
    }

    mutating func apply(_ patch: [String: String]) {
        for (key, value) in patch { values[key] = value == Self.null ? nil : value }
    }

    static let null = "null"

    private static func noObject(_ json: String) -> StorageError {
        StorageError(
            .invalidValue, "A document is written as \(json.prefix(80)), which is no JSON object.",
            remedy: "Let its type encode itself with keys, as structs do.")
    }
}

/// Finds the keys of a JSON object and the ranges of their values, without parsing the values.
private struct ObjectScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// - Returns: nil if the text isn't an object. If a key is repeated, its last value counts.
    mutating func fields() -> [String: String]? {
        guard take("{") else { return nil }
        var fields: [String: String] = [:]
        if take("}") { return isAtEnd ? fields : nil }
        repeat {
            skipSpace()
            guard let key = text(skipString), let name = Self.string(key), take(":") else { return nil }
            skipSpace()
            guard let value = text(skipValue) else { return nil }
            fields[name] = value
        } while take(",")
        return take("}") && isAtEnd ? fields : nil
    }

    private var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return index == bytes.count
        }
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func text(_ skip: (inout ObjectScanner) -> Bool) -> String? {
        let start = index
        guard skip(&self), index > start else { return nil }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private func skipString(_ scanner: inout ObjectScanner) -> Bool { scanner.skipQuoted() }

    private mutating func skipQuoted() -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return false }
        index += 1
        while index < bytes.count {
            let byte = bytes[index]
            index += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return true }
        }
        return false
    }

    private func skipValue(_ scanner: inout ObjectScanner) -> Bool { scanner.skipNested() }

    private mutating func skipNested() -> Bool {
        var depth = 0
        while index < bytes.count {
            switch Unicode.Scalar(bytes[index]) {
            case "\"":
                guard skipQuoted() else { return false }
                if depth == 0 { return true }
                continue
            case "{", "[": depth += 1
            case "}", "]":
                // The end of the enclosing object.
                if depth == 0 { return true }
                depth -= 1
                if depth == 0 {
                    index += 1
                    return true
                }
            case ",", " ", "\t", "\n", "\r": if depth == 0 { return true }
            default: break
            }
            index += 1
        }
        return false
    }

    private static func string(_ quoted: String) -> String? {
        guard quoted.utf8.contains(UInt8(ascii: "\\")) else {
            // Not by characters: one may consist of the quote and a combining mark.
            return String(decoding: quoted.utf8.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? _StorageJSON.value(String.self, of: .text(quoted))
    }
}
