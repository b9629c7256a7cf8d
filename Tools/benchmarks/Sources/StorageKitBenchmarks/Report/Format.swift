import Foundation

/// Numbers as the report prints them, the same in every locale.
enum Format {
    /// About three significant digits.
    static func number(_ value: Double) -> String {
        switch abs(value) {
        case 0: "0"
        case 100...: count(Int(value.rounded()))
        case 10..<100: String(format: "%.1f", value)
        case 1..<10: String(format: "%.2f", value)
        case 0.01..<1: String(format: "%.3f", value)
        default: String(format: "%.2g", value)
        }
    }

    /// Median, and the range if there is one.
    static func spread(_ values: [Double]) -> String {
        guard let spread = Spread(values) else { return "–" }
        guard values.count > 1 else { return number(spread.median) }
        return "\(number(spread.median)) (\(number(spread.minimum))–\(number(spread.maximum)))"
    }

    /// With commas between thousands.
    static func count(_ value: Int) -> String {
        var digits = String(value.magnitude)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        groups.insert(digits, at: 0)
        return (value < 0 ? "-" : "") + groups.joined(separator: ",")
    }
}
