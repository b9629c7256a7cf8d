import Foundation
import StorageCore

/// Values of columns, in the form of change histories.
extension JSONWriter {
    /// Writes the shortest digits that parse as the same real, always with a point or an exponent, so that it remains a real.
    ///
    /// JSON has no infinity: it becomes `{"$real":"Infinity"}`. NaN becomes null, as SQLite stores it.
    mutating func real(_ value: Double) {
        if value.isFinite {
            beginValue()
            bytes.append(contentsOf: value.description.utf8)
        } else if value.isNaN {
            null()
        } else {
            word(value < 0 ? #"{"$real":"-Infinity"}"# : #"{"$real":"Infinity"}"#)
        }
    }

    /// `{"$blob":"…"}` with base64.
    mutating func blob(_ value: UnsafeRawBufferPointer) {
        word(#"{"$blob":""#)
        Base64.encode(value, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: "}"))
    }

    /// A time in the canonical form of RFC 3339.
    mutating func time(_ microseconds: Int64) {
        beginValue()
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
}
