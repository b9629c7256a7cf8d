internal import Foundation

/// SQLite's conversions between numbers and texts.
package enum SQLiteNumber {
    #if arch(x86_64) || arch(i386)
        typealias Extended = Float80
    #else
        typealias Extended = Double
    #endif

    /// Converts a text that is a number, apart from spaces around it; returns other values unchanged.
    package static func number(_ value: StorageValue) -> StorageValue {
        guard case .text(var text) = value else { return value }
        return text.withUTF8 { parse($0) } ?? value
    }

    /// The number in a text that contains nothing else but spaces around it; nil for other texts.
    package static func number(text: UnsafeRawBufferPointer) -> StorageValue? { parse(text.bindMemory(to: UInt8.self)) }

    /// The number that a text or blob begins with, as a real; zero if there is none.
    package static func leadingReal(_ bytes: UnsafeRawBufferPointer) -> Double {
        guard case .real(let value)? = parse(bytes.bindMemory(to: UInt8.self), isPrefix: true) else { return 0 }
        return value
    }

    /// Converts a number to text; returns other values unchanged.
    package static func text(_ value: StorageValue) -> StorageValue {
        switch value {
        case .integer(let value): .text(String(value))
        case .real(let value): .text(text(value))
        default: value
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

// MARK: Text to number

extension SQLiteNumber {
    /// Follows `sqlite3AtoF` and `sqlite3Atoi64`.
    ///
    /// - Parameter isPrefix: Whether other text may follow; the result is then a real.
    private static func parse(_ text: UnsafeBufferPointer<UInt8>, isPrefix: Bool = false) -> StorageValue? {
        var offset = 0
        let end = text.count
        while offset < end, isSpace(text[offset]) { offset += 1 }
        let start = offset
        var isNegative = false
        if offset < end, text[offset] == UInt8(ascii: "-") || text[offset] == UInt8(ascii: "+") {
            isNegative = text[offset] == UInt8(ascii: "-")
            offset += 1
        }
        let room = (Int64.max - 9) / 10
        var significand: Int64 = 0
        var shift = 0
        var digits = 0
        var isInteger = true
        while offset < end, isDigit(text[offset]) {
            significand = significand * 10 + Int64(text[offset] - 0x30)
            offset += 1
            digits += 1
            guard significand >= room else { continue }
            while offset < end, isDigit(text[offset]) {
                offset += 1
                shift += 1
            }
        }
        if offset < end, text[offset] == UInt8(ascii: ".") {
            offset += 1
            isInteger = false
            while offset < end, isDigit(text[offset]) {
                if significand < room {
                    significand = significand * 10 + Int64(text[offset] - 0x30)
                    shift -= 1
                    digits += 1
                }
                offset += 1
            }
        }
        var exponent = 0
        if offset < end, text[offset] == UInt8(ascii: "e") || text[offset] == UInt8(ascii: "E") {
            offset += 1
            isInteger = false
            var sign = 1
            if offset < end, text[offset] == UInt8(ascii: "-") || text[offset] == UInt8(ascii: "+") {
                sign = text[offset] == UInt8(ascii: "-") ? -1 : 1
                offset += 1
            }
            guard isPrefix || offset < end && isDigit(text[offset]) else { return nil }
            while offset < end, isDigit(text[offset]) {
                exponent = exponent < 10_000 ? exponent * 10 + Int(text[offset] - 0x30) : 10_000
                offset += 1
            }
            exponent *= sign
        }
        if isPrefix { return .real(real(significand, isNegative: isNegative, power: exponent + shift)) }
        let last = offset
        while offset < end, isSpace(text[offset]) { offset += 1 }
        guard offset == end, digits > 0 else { return nil }
        if isInteger, let whole = Int64(String(decoding: text[start..<last], as: UTF8.self)) { return .integer(whole) }
        return .real(real(significand, isNegative: isNegative, power: exponent + shift))
    }

    private static func real(_ significand: Int64, isNegative: Bool, power: Int) -> Double {
        guard significand != 0 else { return isNegative ? -0.0 : 0.0 }
        var significand = significand
        var rest = abs(power)
        let isLarge = power > 0
        while rest > 0 {
            if isLarge {
                if significand >= Int64.max / 10 { break }
                significand *= 10
            } else {
                if significand % 10 != 0 { break }
                significand /= 10
            }
            rest -= 1
        }
        let value = Extended(isNegative ? -significand : significand)
        if rest == 0 { return Double(isNegative ? -significand : significand) }
        if rest > 307 {
            guard rest < 342 else { return isLarge ? Double.infinity * Double(value) : 0.0 * Double(value) }
            let scale = powerOfTen(rest - 308)
            return isLarge ? Double(value * scale) * 1.0e308 : Double(value / scale) / 1.0e308
        }
        let scale = powerOfTen(rest)
        return Double(isLarge ? value * scale : value / scale)
    }

    private static func powerOfTen(_ exponent: Int) -> Extended {
        var (rest, base, result) = (exponent, Extended(10), Extended(1))
        while true {
            if rest & 1 != 0 { result *= base }
            rest >>= 1
            if rest == 0 { return result }
            base *= base
        }
    }
}

// MARK: Number to text

extension SQLiteNumber {
    /// Follows `sqlite3_snprintf("%!.15g")`.
    static func text(_ real: Double) -> String {
        guard real.isFinite else { return real < 0 ? "-Inf" : "Inf" }
        var value = Extended(abs(real))
        var exponent = 0
        var rounder = Extended(0.5)
        for _ in 0..<14 { rounder *= 0.1 }
        if value > 0 {
            var scale: Extended = 1
            while value >= 1e100 * scale, exponent <= 350 { (scale, exponent) = (scale * 1e100, exponent + 100) }
            while value >= 1e10 * scale, exponent <= 350 { (scale, exponent) = (scale * 1e10, exponent + 10) }
            while value >= 10 * scale, exponent <= 350 { (scale, exponent) = (scale * 10, exponent + 1) }
            value /= scale
            while value < 1e-8 { (value, exponent) = (value * 1e8, exponent - 8) }
            while value < 1 { (value, exponent) = (value * 10, exponent - 1) }
        }
        value += rounder
        if value >= 10 { (value, exponent) = (value * 0.1, exponent + 1) }
        let isScientific = exponent < -4 || exponent > 14
        var precision = isScientific ? 14 : 14 - exponent
        var offset = isScientific ? 0 : exponent
        var significant = 26
        var text: [UInt8] = real < 0 ? [UInt8(ascii: "-")] : []
        func digit() -> UInt8 {
            guard significant > 0 else { return UInt8(ascii: "0") }
            significant -= 1
            let digit = Int(value)
            value = (value - Extended(digit)) * 10
            return UInt8(digit) + UInt8(ascii: "0")
        }
        if offset < 0 {
            text.append(UInt8(ascii: "0"))
        } else {
            while offset >= 0 {
                text.append(digit())
                offset -= 1
            }
        }
        text.append(UInt8(ascii: "."))
        offset += 1
        while offset < 0 {
            text.append(UInt8(ascii: "0"))
            precision -= 1
            offset += 1
        }
        while precision > 0 {
            text.append(digit())
            precision -= 1
        }
        while text.last == UInt8(ascii: "0") { text.removeLast() }
        if text.last == UInt8(ascii: ".") { text.append(UInt8(ascii: "0")) }
        var result = String(decoding: text, as: UTF8.self)
        if isScientific { result += String(format: "e%+03d", exponent) }
        return result
    }
}
