import Foundation
import StorageKit

/// A row's key as one text: the parts of a composite key are separated by commas, and a comma inside a part is `%2C`.
enum KeyText {
    static func text(of key: [StorageEvent.Field]) -> String {
        text(key.map { ValueText.id($0.value, coding: $0.coding) })
    }

    /// - Parameter entity: Determines the types of the key's parts; unknown ones are shown as stored.
    static func text(of key: [StorageValue], in entity: CatalogEntity?) -> String {
        let columns = entity?.key ?? []
        return text(
            key.enumerated().map { index, value in
                ValueText.id(value, coding: columns.indices.contains(index) ? columns[index].coding : "")
            })
    }

    private static func text(_ parts: [String]) -> String {
        parts.count == 1 ? parts[0] : parts.map(escaped).joined(separator: ",")
    }

    /// The parts of a key of several columns.
    static func parts(of text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { decoded(String($0)) }
    }

    static func decoded(_ part: String) -> String {
        // The percent sign last, so that its result isn't decoded again.
        part.replacing("%2C", with: ",").replacing("%2c", with: ",").replacing("%25", with: "%")
    }

    private static func escaped(_ part: String) -> String {
        part.contains(",") || part.contains("%2") ? part.replacing("%", with: "%25").replacing(",", with: "%2C") : part
    }

    /// Returns the values that a part of a key can mean, likeliest first, depending on the column's type.
    static func values(_ text: String, of column: CatalogColumn) -> [StorageValue] {
        let type = column.type.uppercased()
        let integer = Int64(text).map { StorageValue.integer($0) }
        let isText = type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") || type == "JSON"
        // SQLite keeps text unchanged in text columns, and converts text that looks like a number in others.
        let blob = blob(text).map { StorageValue.blob($0) }
        if isText { return [.text(text), blob].compactMap { $0 } }
        let uuid = UUID(uuidString: text)?.storageValue
        if let uuid, column.coding == ColumnSchema.uuid { return [uuid] }
        let number = Double(text).flatMap { $0.isNaN ? nil : $0 }
        let real = number.map { StorageValue.real($0) }
        // Infinity is a word, and likelier a text where the column isn't of reals.
        let isWord = number?.isInfinite ?? false && column.affinity != .real
        return ((isWord ? [.text(text), real] : [integer, real, .text(text)]) + [blob, uuid]).compactMap { $0 }
    }

    /// Parses bytes from hexadecimal digits, the form of ids that are blobs.
    private static func blob(_ text: String) -> Data? {
        Hexadecimal.bytes(text.lowercasedASCII).map { Data($0) }
    }
}
