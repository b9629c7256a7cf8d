internal import Foundation
internal import StorageCore
package import StorageLog

extension ExactValue {
    /// An SQL expression for exactly this value, on one line. Text with control characters, or that isn't valid UTF-8, is written
    /// as hexadecimal bytes.
    package var sql: String {
        switch self {
        case .null: return "NULL"
        case .integer(let value): return String(value)
        case .real(let bits): return Self.sql(Double(bitPattern: bits))
        case .text(let bytes):
            let isPlain =
                bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && String(validating: bytes, as: UTF8.self) != nil
            guard isPlain else { return "CAST(x'\(Hexadecimal.text(bytes))' AS TEXT)" }
            return String(decoding: bytes, as: UTF8.self).quotedAsText
        case .blob(let bytes): return "x'\(Hexadecimal.text(bytes))'"
        }
    }

    private static func sql(_ value: Double) -> String {
        // SQL has no literal for infinity, but a number too large for a double is infinite.
        if value.isInfinite { return value < 0 ? "-9e999" : "9e999" }
        // SQLite reads -0.0 as 0.0.
        if value == 0, value.sign == .minus { return "(0.0 * -1)" }
        return "\(value)"
    }
}

extension CatalogColumn {
    /// The DEFAULT clause for the column's declaration; empty if the default is NULL.
    package var defaultClause: String { fallback == .null ? "" : " DEFAULT (\(ExactValue(fallback).sql))" }
}
