/// A pattern of SQLite's LIKE, parsed once.
package struct LikePattern: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        /// One byte of UTF-8, letters from A to Z in lower case.
        case byte(UInt8)
        case one, any
        /// An escape at the end of the pattern, which matches nothing.
        case never
    }

    private var parts: [Part] = []

    package init(_ pattern: String, escape: Unicode.Scalar?) {
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if !isEscaped, scalar == escape {
                isEscaped = true
            } else if !isEscaped, scalar == "%" {
                if parts.last != .any { parts.append(.any) }
            } else if !isEscaped, scalar == "_" {
                parts.append(.one)
            } else {
                for byte in String(scalar).utf8 { parts.append(.byte(SQLiteComparison.lowercased(byte))) }
                isEscaped = false
            }
        }
        if isEscaped { parts.append(.never) }
    }

    /// The folded bytes that every matching text begins with.
    package var prefix: [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            guard case .byte(let byte) = part else { break }
            bytes.append(byte)
        }
        return bytes
    }

    /// Whether the whole text matches.
    func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
    }

    /// Whether the whole text, in UTF-8, matches.
    package func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        parts.withUnsafeBufferPointer { Self.matches(text, $0) }
    }

    private static func matches(_ text: UnsafeRawBufferPointer, _ parts: UnsafeBufferPointer<Part>) -> Bool {
        var index = 0
        var part = 0
        // Where to continue if the text after the last `%` doesn't match from here.
        var resume: (part: Int, index: Int)?
        while index < text.count {
            if part < parts.count {
                switch parts[part] {
                case .any:
                    part += 1
                    resume = (part, index)
                    continue
                case .one:
                    part += 1
                    index = next(text, index)
                    continue
                case .byte(let wanted) where wanted == SQLiteComparison.lowercased(text[index]):
                    part += 1
                    index += 1
                    continue
                default: break
                }
            }
            guard let again = resume else { return false }
            index = next(text, again.index)
            resume = (again.part, index)
            part = again.part
        }
        while part < parts.count, parts[part] == .any { part += 1 }
        return part == parts.count
    }

    /// The index of the next character's first byte.
    private static func next(_ text: UnsafeRawBufferPointer, _ index: Int) -> Int {
        var index = index + 1
        while index < text.count, text[index] & 0xC0 == 0x80 { index += 1 }
        return index
    }
}
