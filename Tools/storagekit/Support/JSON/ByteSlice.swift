/// Bytes that somebody else keeps alive: a part of the line that is read, or of the scanner's own memory.
///
/// A slice is valid until the owner reads the next line. Copy what must live longer.
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
}
