/// Reads untrusted JSON value by value, as its caller expects them. Values are returned as they were sent: numbers keep
/// their digits, strings their characters.
///
/// Rejects invalid JSON, and also bytes that aren't UTF-8, escapes of half a surrogate pair, repeated keys in an
/// object, and values nested more than 510 levels deep. Keys are compared as `String`s.
///
/// - Complexity: O(*n*) in the number of bytes.
package struct JSONReader {
    /// Why a text isn't what was expected. The messages contain nothing of what was sent.
    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let problem: String
        /// The offset of the byte at which the problem was found.
        package let offset: Int

        package var description: String { "At byte \(offset) \(problem)." }
    }

    /// `JSONDecoder` reads 512 levels. A field's value is nested in its document, which may be nested in an array or
    /// object.
    private static let maximumDepth = 510
    /// The largest integer that every JSON implementation reads exactly.
    package static let largestInteger: Int64 = 1 << 53

    let bytes: [UInt8]
    var index = 0

    /// - Throws: ``Malformed`` if the bytes aren't UTF-8.
    package init(_ bytes: some Sequence<UInt8>) throws(Malformed) {
        self.bytes = Array(bytes)
        guard String(validating: self.bytes, as: UTF8.self) != nil else {
            throw Malformed(problem: "begins a text that isn't UTF-8", offset: 0)
        }
    }

    /// The same JSON without white space between tokens; nil for anything but one JSON value.
    package static func compact(_ json: String) -> String? {
        do {
            var reader = try JSONReader(json.utf8)
            let text = try reader.text()
            try reader.finish()
            return text
        } catch {
            return nil
        }
    }

    /// Checks that nothing follows.
    package mutating func finish() throws(Malformed) {
        skipSpace()
        guard index == bytes.count else { throw malformed("there is more data after the end of the value") }
    }

    package func malformed(_ problem: String, at offset: Int? = nil) -> Malformed {
        Malformed(problem: problem, offset: offset ?? index)
    }
}

// MARK: Values

extension JSONReader {
    /// Reads an object.
    ///
    /// - Parameter member: Reads the value of each key.
    package mutating func object(_ member: (_ key: String, inout JSONReader) throws -> Void) throws {
        guard take("{") else { throw malformed("an object is expected") }
        guard !take("}") else { return }
        var keys: Set<String> = []
        repeat {
            skipSpace()
            let start = index
            let key = try string()
            guard keys.insert(key).inserted else { throw malformed("an object has a key twice", at: start) }
            guard take(":") else { throw malformed("a colon is expected") }
            try member(key, &self)
        } while take(",")
        guard take("}") else { throw malformed("a comma or the end of an object is expected") }
    }

    /// Reads an array.
    ///
    /// - Parameter element: Reads one element.
    package mutating func array(_ element: (inout JSONReader) throws -> Void) throws {
        guard take("[") else { throw malformed("an array is expected") }
        guard !take("]") else { return }
        repeat { try element(&self) } while take(",")
        guard take("]") else { throw malformed("a comma or the end of an array is expected") }
    }

    /// Reads a string. Strings that contain NUL, which no name and no id does, are rejected.
    package mutating func string() throws(Malformed) -> String {
        skipSpace()
        let start = index
        try skipString()
        let quoted = bytes[start + 1..<index - 1]
        let text =
            quoted.contains(UInt8(ascii: "\\")) ? Self.unescaped(quoted) : String(decoding: quoted, as: UTF8.self)
        guard !text.utf8.contains(0) else { throw malformed("a text has the character NUL", at: start) }
        return text
    }

    /// Reads an integer from 0 to 2^53, which all JSON implementations support.
    package mutating func integer() throws(Malformed) -> Int64 {
        skipSpace()
        let start = index
        guard index < bytes.count, bytes[index].isDigit || bytes[index] == UInt8(ascii: "-") else {
            throw malformed("an integer is expected")
        }
        try skipNumber()
        guard let number = Int64(String(decoding: bytes[start..<index], as: UTF8.self)),
            (0...Self.largestInteger).contains(number)
        else { throw malformed("an integer from 0 to 2^53 is expected", at: start) }
        return number
    }

    package mutating func bool() throws(Malformed) -> Bool {
        skipSpace()
        if skip("true") { return true }
        if skip("false") { return false }
        throw malformed("true or false is expected")
    }

    /// Reads any value and returns its text, without white space between tokens.
    package mutating func text() throws(Malformed) -> String {
        var text: [UInt8] = []
        try copyValue(to: &text, depth: 0)
        return String(decoding: text, as: UTF8.self)
    }

    /// Skips any value.
    package mutating func ignore() throws(Malformed) { _ = try text() }

    /// Reads an object and returns the texts of its values.
    package mutating func fields() throws -> [String: String] {
        var fields: [String: String] = [:]
        try object { key, json in fields[key] = try json.text() }
        return fields
    }
}

// MARK: Tokens

extension JSONReader {
    /// - Parameter depth: The number of enclosing arrays and objects.
    private mutating func copyValue(to text: inout [UInt8], depth: Int) throws(Malformed) {
        skipSpace()
        guard index < bytes.count else { throw malformed("the text ends where a value is expected") }
        let start = index
        let sign = Unicode.Scalar(bytes[index])
        guard depth < Self.maximumDepth || sign != "{" && sign != "[" else {
            throw malformed("a value is nested more than \(Self.maximumDepth) deep")
        }
        switch sign {
        case "{": return try copyMembers(to: &text, depth: depth)
        case "[": return try copyElements(to: &text, depth: depth)
        case "\"": try skipString()
        case "-", "0"..."9": try skipNumber()
        default:
            guard skip("true") || skip("false") || skip("null") else { throw malformed("a value is expected") }
        }
        text += bytes[start..<index]
    }

    private mutating func copyMembers(to text: inout [UInt8], depth: Int) throws(Malformed) {
        index += 1
        text.append(UInt8(ascii: "{"))
        var keys: Set<String> = []
        if !take("}") {
            repeat {
                if !keys.isEmpty { text.append(UInt8(ascii: ",")) }
                skipSpace()
                let start = index
                try skipString()
                text += bytes[start..<index]
                guard keys.insert(Self.unescaped(bytes[start + 1..<index - 1])).inserted else {
                    throw malformed("an object has a key twice", at: start)
                }
                guard take(":") else { throw malformed("a colon is expected") }
                text.append(UInt8(ascii: ":"))
                try copyValue(to: &text, depth: depth + 1)
            } while take(",")
            guard take("}") else { throw malformed("a comma or the end of an object is expected") }
        }
        text.append(UInt8(ascii: "}"))
    }

    private mutating func copyElements(to text: inout [UInt8], depth: Int) throws(Malformed) {
        index += 1
        text.append(UInt8(ascii: "["))
        if !take("]") {
            try copyValue(to: &text, depth: depth + 1)
            while take(",") {
                text.append(UInt8(ascii: ","))
                try copyValue(to: &text, depth: depth + 1)
            }
            guard take("]") else { throw malformed("a comma or the end of an array is expected") }
        }
        text.append(UInt8(ascii: "]"))
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: sign) else { return false }
        index += 1
        return true
    }

    private mutating func skip(_ word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }

    private mutating func skipNumber() throws(Malformed) {
        let start = index
        if bytes[index] == UInt8(ascii: "-") { index += 1 }
        let whole = index
        let hasWhole = skipDigits()
        guard hasWhole, index - whole == 1 || bytes[whole] != UInt8(ascii: "0") else {
            throw malformed("a number is expected", at: start)
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            guard skipDigits() else { throw malformed("a number has no digits after its decimal point", at: start) }
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < bytes.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[index]) { index += 1 }
            guard skipDigits() else { throw malformed("a number has no digits in its exponent", at: start) }
        }
    }

    private mutating func skipDigits() -> Bool {
        let start = index
        while index < bytes.count, bytes[index].isDigit { index += 1 }
        return index > start
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
