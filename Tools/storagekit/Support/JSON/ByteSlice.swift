import Foundation

/// Bytes owned by another object: a part of the current line, or of the scanner's own memory.
///
/// A slice is valid until the owner reads the next line. Copy bytes that are needed longer.
typealias ByteSlice = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
    /// The bytes as text. They were validated as UTF-8 by the scanner; foreign bytes are repaired.
    var string: String { String(decoding: self, as: UTF8.self) }

    /// Whether these are the bytes of a literal; no memory is allocated.
    func equals(_ literal: StaticString) -> Bool {
        guard count == literal.utf8CodeUnitCount else { return false }
        let other = UnsafeRawPointer(literal.utf8Start)
        for index in 0..<count where self[index] != other.load(fromByteOffset: index, as: UInt8.self) {
            return false
        }
        return true
    }

    func equals(_ other: ByteSlice) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, count) == 0
    }

    func equals(_ other: [UInt8]) -> Bool { other.withUnsafeBytes { equals($0) } }

    /// Whether these are the bytes of a text in UTF-8.
    func equals(text other: String) -> Bool {
        var other = other
        return other.withUTF8 { equals(ByteSlice($0)) }
    }
}
