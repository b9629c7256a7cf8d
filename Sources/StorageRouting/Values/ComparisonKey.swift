package import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog

/// Values as bytes whose order is SQLite's order of the values: numbers, then texts by a collation, then blobs. NULL has
/// no key.
///
/// A number is encoded as the greatest double not above it, in an order-preserving form, followed by what an integer
/// has beyond that; so `1` and `1.0` are equal and 64 bits stay exact. Texts and blobs are encoded as their bytes,
/// texts normalised for the collation.
package struct ComparisonKey {
    package enum Kind {
        static let number: UInt8 = 1
        package static let text: UInt8 = 2
        package static let blob: UInt8 = 3
    }

    /// The key of a constant; nil for NULL.
    static func bytes(of value: StorageValue, _ reading: ColumnReading) -> [UInt8]? {
        let memory = ValueMemory()
        let output = KeyBuffer()
        return withExtendedLifetime(memory) {
            append(memory.keep(value), reading, to: output) ? Array(output.bytes(from: 0)) : nil
        }
    }

    /// - Returns: False for NULL.
    package static func append(_ value: storage_value, _ reading: ColumnReading, to output: KeyBuffer) -> Bool {
        switch Int32(value.type) {
        case SQLITE_INTEGER, SQLITE_FLOAT:
            if reading.conversion == .toText {
                append(SQLiteNumber.text(value.value()), reading.collation, to: output)
            } else if Int32(value.type) == SQLITE_INTEGER {
                append(Int64(bitPattern: value.bits), to: output)
            } else {
                append(Double(bitPattern: value.bits), to: output)
            }
        case SQLITE_TEXT:
            if reading.conversion == .toNumber, mayBeNumber(value.addressed) {
                append(SQLiteNumber.number(value.value()), reading.collation, to: output)
            } else {
                append(text: value.addressed, reading.collation, to: output)
            }
        case SQLITE_BLOB:
            output.append(Kind.blob)
            output.append(value.addressed)
        default: return false
        }
        return true
    }

    /// Appends a value, or NULL before all values, as one part of a longer key.
    package static func appendPart(_ value: storage_value, _ reading: ColumnReading, to output: KeyBuffer) {
        let start = output.count
        _ = append(value, reading, to: output)
        output.endPart(from: start)
    }

    private static func append(_ value: StorageValue, _ collation: RowPredicate.Collation, to output: KeyBuffer) {
        switch value {
        case .integer(let value): append(value, to: output)
        case .real(let value): append(value, to: output)
        case .text(var value): value.withUTF8 { append(text: UnsafeRawBufferPointer($0), collation, to: output) }
        default: break
        }
    }

    private static func append(_ integer: Int64, to output: KeyBuffer) {
        var floor = Double(integer)
        if floor >= 0x1p63 || Int64(floor) > integer { floor = floor.nextDown }
        append(floor, beyond: UInt16(truncatingIfNeeded: integer &- Int64(floor)), to: output)
    }

    private static func append(_ real: Double, to output: KeyBuffer) { append(real, beyond: 0, to: output) }

    private static func append(_ floor: Double, beyond: UInt16, to output: KeyBuffer) {
        let bits = (floor == 0 ? 0.0 : floor).bitPattern
        output.append(Kind.number)
        output.append(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
        output.append(UInt8(truncatingIfNeeded: beyond >> 8))
        output.append(UInt8(truncatingIfNeeded: beyond))
    }

    private static func append(
        text: UnsafeRawBufferPointer, _ collation: RowPredicate.Collation, to output: KeyBuffer
    ) {
        output.append(Kind.text)
        switch collation {
        case .binary: output.append(text)
        case .noCase: output.append(folding: text)
        case .trimmed:
            let end = text.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? 0
            output.append(UnsafeRawBufferPointer(rebasing: text[..<end]))
        }
    }

    /// Whether a text begins as a number does, so that it is worth a closer look.
    private static func mayBeNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first(where: { $0 != 0x20 && !(0x09...0x0D).contains($0) }) else { return false }
        return (0x30...0x39).contains(first) || first == UInt8(ascii: "-") || first == UInt8(ascii: "+")
            || first == UInt8(ascii: ".")
    }

    /// Negative, zero or positive if the first key sorts before, equal to or after the second.
    @inline(__always)
    package static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        // A key has a byte at least, so there is an address.
        let order = memcmp(left.baseAddress!, right.baseAddress!, min(left.count, right.count))
        return order != 0 ? Int(order) : left.count - right.count
    }
}
