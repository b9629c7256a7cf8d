internal import Foundation
internal import StorageCore
package import StorageLog

extension ExactValue {
    /// An SQL expression for exactly this value, on one line. Text with control characters, or that isn't valid UTF-8, is written
    /// as hexadecimal bytes, and a real whose decimal digits some version of SQLite rounds otherwise as a fraction.
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
        let text = "\(value)"
        return isReadExactly(text, as: value) ? text : fraction(value)
    }

    /// Whether every version of SQLite reads a decimal number as exactly this value. They calculate differently: some with doubles
    /// only, some with 64 bits, which are then rounded once more. All of them divide the digits by a power of ten, though, and round
    /// that well if both are doubles and the result doesn't lie in the middle between two doubles.
    private static func isReadExactly(_ text: String, as value: Double) -> Bool {
        let parts = text.split(separator: "e")
        let number = parts[0].split(separator: ".")
        let exponent = parts.count > 1 ? Int(parts[1]) : 0
        guard let digits = Double(number.joined()), let exponent else { return false }
        let decimals = (number.count > 1 ? number[1].utf8.count : 0) - exponent
        guard digits.magnitude < 0x1p53, 0...22 ~= decimals else { return false }
        let power = (0..<decimals).reduce(1.0) { product, _ in product * 10 }
        let product = value * power
        let rest = (digits - product) - (-product).addingProduct(value, power)
        return rest.magnitude <= 0.49 * value.ulp * power
    }

    /// The value as an integer times or through powers of two. All of these are doubles, and so is what comes out after each of
    /// them, so that nothing is rounded.
    private static func fraction(_ value: Double) -> String {
        var (significand, exponent) = (value, 0)
        while significand != significand.rounded(.towardZero) {
            significand *= 2
            exponent -= 1
        }
        while significand.magnitude >= 0x1p53 {
            significand /= 2
            exponent += 1
        }
        var text = "\(Int64(significand)).0"
        while exponent != 0 {
            let step = min(62, abs(exponent))
            text += " \(exponent > 0 ? "*" : "/") \(1 << step)"
            exponent += exponent > 0 ? -step : step
        }
        return "(\(text))"
    }
}

extension CatalogColumn {
    /// The DEFAULT clause for the column's declaration; empty if the default is NULL.
    package var defaultClause: String { fallback == .null ? "" : " DEFAULT (\(ExactValue(fallback).sql))" }
}
