import Foundation
import StorageKit

/// Writes stored values as the JSON that they came from or represent. Only this type knows how.
///
/// - A column of UUIDs (`coding` is "uuid") holds their bytes.
/// - A column of type `BOOLEAN` holds 0 and 1 for false and true.
/// - In imported columns (`coding` begins with "json"), text in a column of type `JSON` is the source of a JSON value,
///   and a blob that is the source of a value of another kind than the column's means that value.
enum StoredValueWriter {
    static func write(_ value: StorageValue, type: String, coding: String, to writer: inout JSONWriter) {
        if let uuid = value.uuid(coding) { return writer.text(uuid.uuidString) }
        let isImported = CatalogColumn.isImported(coding)
        switch value {
        case .integer(let value) where type == "BOOLEAN" && (value == 0 || value == 1): writer.bool(value == 1)
        case .text(var text) where isImported && type == "JSON":
            let isSource = text.withUTF8 { isJSON(UnsafeRawBufferPointer($0)) }
            if isSource { writer.raw(text) } else { writer.text(text) }
        case .blob(let bytes) where isImported:
            let kind = ImportedKind(rawValue: type) ?? .text
            bytes.withUnsafeBytes { kind.isSource($0) ? writer.raw($0) : writer.blob($0) }
        default: writer.value(value)
        }
    }

    /// Returns whether bytes are the source of one JSON value. Other programs may have stored anything with SQL.
    private static func isJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var scanner = JSONScanner()
        do throws(InputError) {
            scanner.start(bytes)
            _ = try scanner.value()
            try scanner.finish()
            return !bytes.contains(0x0A) && !bytes.contains(0x0D)
        } catch {
            return false
        }
    }
}
