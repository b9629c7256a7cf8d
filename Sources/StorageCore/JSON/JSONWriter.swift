/// Appends JSON to a buffer, without white space, one document after the other.
///
/// It adds commas; the caller is responsible for alternating keys and values, and for matching brackets.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.key("v")
/// writer.integer(1)
/// writer.endObject()
/// writer.endLine()
/// ```
package struct JSONWriter {
    /// The written bytes. The caller may remove them after using them.
    package var bytes: [UInt8] = []
    /// Whether a value was written to the open container.
    @usableFromInline var needsComma = false

    package init() {}

    @inlinable package mutating func beginObject() { open(UInt8(ascii: "{")) }
    @inlinable package mutating func endObject() { close(UInt8(ascii: "}")) }
    @inlinable package mutating func beginArray() { open(UInt8(ascii: "[")) }
    @inlinable package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Ends a document of JSON Lines.
    @inlinable
    package mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    @inlinable
    package mutating func key(_ name: String) {
        text(name)
        endKey()
    }

    @inlinable
    package mutating func key(utf8 name: UnsafeRawBufferPointer) {
        text(utf8: name)
        endKey()
    }

    @inlinable package mutating func null() { word("null") }
    @inlinable package mutating func bool(_ value: Bool) { word(value ? "true" : "false") }

    @inlinable
    package mutating func integer(_ value: Int64) {
        beginValue()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var magnitude = value.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10))
            magnitude /= 10
        } while magnitude > 0
        bytes[start...].reverse()
    }

    @inlinable
    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { text(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// - Parameter value: Must be valid UTF-8.
    @inlinable
    package mutating func text(utf8 value: UnsafeRawBufferPointer) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(value)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a value that is already JSON.
    @inlinable
    package mutating func raw(_ json: UnsafeRawBufferPointer) {
        beginValue()
        bytes.append(contentsOf: json)
    }

    /// Writes a value that is already JSON.
    @inlinable
    package mutating func raw(_ json: String) {
        beginValue()
        bytes.append(contentsOf: json.utf8)
    }

    /// Writes a value that is already JSON.
    @inlinable
    package mutating func word(_ json: StaticString) {
        beginValue()
        bytes.append(contentsOf: UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
    }

    /// Adds a comma where one is needed. Must be called before the bytes of a value are appended.
    @inlinable @inline(__always)
    package mutating func beginValue() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}

// MARK: Parts

extension JSONWriter {
    @inlinable @inline(__always)
    mutating func open(_ bracket: UInt8) {
        beginValue()
        bytes.append(bracket)
        needsComma = false
    }

    @inlinable @inline(__always)
    mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    @inlinable @inline(__always)
    mutating func endKey() {
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Escapes what JSON doesn't allow in text, as `JSONEncoder` does, and nothing else; runs between escapes are copied
    /// at once.
    @usableFromInline
    mutating func appendEscaped(_ value: UnsafeRawBufferPointer) {
        guard let base = value.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        var index = 0
        while true {
            let stop = PlainRun.end(in: base, from: index, to: value.count, stopsAtNonASCII: false)
            bytes.append(contentsOf: UnsafeBufferPointer(start: base + index, count: stop - index))
            guard stop < value.count else { return }
            appendEscape(base[stop])
            index = stop + 1
        }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(contentsOf: "u00".utf8)
            for digit in [byte >> 4, byte & 15] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }
}
