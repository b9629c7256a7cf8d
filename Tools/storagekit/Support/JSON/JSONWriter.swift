import Foundation
import StorageCore

/// Appends JSON to a buffer, without white space, one document after the other.
///
/// Commas are set by the writer; that keys and values alternate and that brackets match is up to the caller.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.key("v")
/// writer.integer(1)
/// writer.endObject()
/// writer.endLine()
/// ```
struct JSONWriter {
    /// What was written. The caller empties it when it has passed the bytes on.
    var bytes: [UInt8] = []
    /// Whether a value was written to the container that is open.
    private var needsComma = false

    init() {}

    mutating func beginObject() { open(UInt8(ascii: "{")) }
    mutating func endObject() { close(UInt8(ascii: "}")) }
    mutating func beginArray() { open(UInt8(ascii: "[")) }
    mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Ends a document of JSON Lines.
    mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    mutating func key(_ name: String) {
        text(name)
        endKey()
    }

    mutating func key(utf8 name: UnsafeRawBufferPointer) {
        text(utf8: name)
        endKey()
    }

    mutating func null() { word("null") }
    mutating func bool(_ value: Bool) { word(value ? "true" : "false") }

    mutating func integer(_ value: Int64) {
        startValue()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var magnitude = value.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10))
            magnitude /= 10
        } while magnitude > 0
        bytes[start...].reverse()
    }

    /// The shortest digits that read back as the same real, always with a point or an exponent, so that it stays a real.
    ///
    /// JSON has no infinity: it becomes `{"$real":"Infinity"}`. NaN becomes null, as SQLite stores it.
    mutating func real(_ value: Double) {
        if value.isFinite {
            startValue()
            bytes.append(contentsOf: value.description.utf8)
        } else if value.isNaN {
            null()
        } else {
            word(value < 0 ? #"{"$real":"-Infinity"}"# : #"{"$real":"Infinity"}"#)
        }
    }

    mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { text(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// - Parameter value: valid UTF-8.
    mutating func text(utf8 value: UnsafeRawBufferPointer) {
        startValue()
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(value)
        bytes.append(UInt8(ascii: "\""))
    }

    /// `{"$blob":"…"}` with base64.
    mutating func blob(_ value: UnsafeRawBufferPointer) {
        word(#"{"$blob":""#)
        Base64.encode(value, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: "}"))
    }

    /// A value that is JSON already.
    mutating func raw(_ json: UnsafeRawBufferPointer) {
        startValue()
        bytes.append(contentsOf: json)
    }

    mutating func raw(_ json: String) {
        startValue()
        bytes.append(contentsOf: json.utf8)
    }

    /// A time in the canonical form of RFC 3339.
    mutating func time(_ microseconds: Int64) {
        startValue()
        bytes.append(UInt8(ascii: "\""))
        Timestamp.append(microseconds, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func value(_ value: StorageValue) {
        switch value {
        case .null: null()
        case .integer(let value): integer(value)
        case .real(let value): real(value)
        case .text(let value): text(value)
        case .blob(let value): value.withUnsafeBytes { blob($0) }
        }
    }

    private mutating func open(_ bracket: UInt8) {
        startValue()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func endKey() {
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func word(_ word: StaticString) {
        startValue()
        bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    @inline(__always)
    private mutating func startValue() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Escapes what JSON doesn't allow in text and nothing else; runs between escapes are copied at once.
    private mutating func appendEscaped(_ value: UnsafeRawBufferPointer) {
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
