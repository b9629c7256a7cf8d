import Foundation
import StorageCore
import StorageKit

/// Stored values as text for people.
enum ValueText {
    static let null = "∅"

    /// Returns a value as text. Text is unquoted unless it would be ambiguous.
    ///
    /// - Parameter isWhole: Whether a long blob is shown in full.
    static func text(_ field: StorageEvent.Field, isWhole: Bool = false) -> String {
        if let uuid = field.value.uuid(field.coding) { return uuid.uuidString }
        switch field.value {
        case .null: return null
        case .text(let text):
            let isImported = CatalogColumn.isImported(field.coding)
            return isImported && field.type == "JSON" || !isAmbiguous(text) ? text : quoted(text)
        case .blob(let bytes) where !(CatalogColumn.isImported(field.coding) && field.type != "BLOB"):
            return blob(bytes, limit: isWhole ? .max : blobLimit)
        case .real(let value) where value.isInfinite: return value < 0 ? "-Infinity" : "Infinity"
        default: return plain(field)
        }
    }

    /// The value as a cell of CSV or Markdown; nil for NULL.
    static func cell(_ field: StorageEvent.Field) -> String? { field.value == .null ? nil : plain(field) }

    /// Returns the value for tables of other programs: text unchanged, nothing for NULL, the rest as in JSON.
    static func plain(_ field: StorageEvent.Field) -> String {
        if let uuid = field.value.uuid(field.coding) { return uuid.uuidString }
        switch field.value {
        case .null: return ""
        case .text(let text): return text
        default:
            var writer = JSONWriter()
            StoredValueWriter.write(field.value, type: field.type, coding: field.coding, to: &writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    /// Returns whether a text that was typed means a value other than NULL: as tables of other programs have it, or as people
    /// see it.
    static func matches(_ text: String, _ field: StorageEvent.Field) -> Bool {
        guard field.value != .null else { return false }
        let shown = self.text(field, isWhole: true)
        return [plain(field), shown, TerminalText.visible(shown)].contains { $0.utf8.elementsEqual(text.utf8) }
    }

    /// Returns a value in the form of a row's id: text unchanged, numbers as digits, bytes as hexadecimal digits.
    static func id(_ value: StorageValue, coding: String) -> String {
        if let uuid = value.uuid(coding) { return uuid.uuidString }
        return switch value {
        case .text(let text): text
        case .blob(let bytes): Hexadecimal.text(bytes)
        default: value.description
        }
    }

    /// The maximum number of a blob's bytes to show; the rest is counted, because lines would get long.
    private static let blobLimit = 64

    private static func blob(_ bytes: Data, limit: Int) -> String {
        let digits = Hexadecimal.text(bytes.prefix(limit))
        return bytes.count <= limit ? "x'\(digits)'" : "x'\(digits)…' (\(NumberText.grouped(bytes.count)) bytes)"
    }

    /// Returns text in quotes, with inner quotes escaped, so that its end is visible.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing(scalar: "\\", with: "\\\\").replacing(scalar: "\"", with: "\\\"") + "\""
    }

    private static func isAmbiguous(_ text: String) -> Bool {
        text.isEmpty || text.first?.isWhitespace == true || text.last?.isWhitespace == true || text == null
            || text == "true" || text == "false" || text.hasPrefix("\"") || text.hasPrefix("x'")
            || Double(text) != nil || text.contains(" → ")
    }
}
