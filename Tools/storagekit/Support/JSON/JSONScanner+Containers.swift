/// The scanner's state in an object that its caller reads key by key.
struct JSONObjectScope {
    fileprivate let object: UInt64
    fileprivate var isFirst = true
}

extension JSONScanner {
    /// Enters an object. Read its keys with `nextKey`, and the value of each with `value` or `beginObject`.
    mutating func beginObject() throws(InputError) -> JSONObjectScope {
        skipWhitespace()
        guard position < end, base[position] == UInt8(ascii: "{") else {
            throw fail("an object is expected here", "Write {\"key\": value, …} on one line.")
        }
        try descend()
        return JSONObjectScope(object: keys.startObject())
    }

    /// Reads the next key with its escapes resolved; returns nil at the end of the object.
    @inline(__always)
    mutating func nextKey(_ scope: inout JSONObjectScope) throws(InputError) -> ByteSlice? {
        skipWhitespace()
        guard position < end else { throw endOfLine() }
        if base[position] == UInt8(ascii: "}") {
            ascend()
            return nil
        }
        if scope.isFirst {
            scope.isFirst = false
        } else {
            try take(
                UInt8(ascii: ","), problem: "a comma or } is expected here",
                remedy: "Separate the keys of an object by commas.")
            skipWhitespace()
        }
        let start = position
        try take(
            UInt8(ascii: "\""), problem: "a key in double quotes is expected here", remedy: "Write \"key\": value.")
        let key = try string()
        guard keys.insert(key, object: scope.object) else { throw repeatedKey(key, at: start) }
        skipWhitespace()
        try take(UInt8(ascii: ":"), problem: "a colon is expected here", remedy: "Write \"key\": value.")
        return key
    }

    /// Reads a whole array or object: validates it, and returns its minified source, or the value that it marks.
    mutating func container() throws(InputError) -> HistoryValue {
        let start = position
        let whitespace = skippedWhitespace
        try skipContainer()
        var source = slice(start, position)
        if skippedWhitespace != whitespace { source = minified(source) }
        return marker(source) ?? .json(source)
    }

    private mutating func skipContainer() throws(InputError) {
        if base[position] == UInt8(ascii: "[") { return try skipArray() }
        var scope = try beginObject()
        while try nextKey(&scope) != nil { try skipValue() }
    }

    private mutating func skipArray() throws(InputError) {
        try descend()
        if peek() == UInt8(ascii: "]") { return ascend() }
        while true {
            try skipValue()
            skipWhitespace()
            guard position < end else { throw endOfLine() }
            if base[position] == UInt8(ascii: "]") { return ascend() }
            try take(
                UInt8(ascii: ","), problem: "a comma or ] is expected here",
                remedy: "Separate the values of an array by commas.")
        }
    }

    private mutating func skipValue() throws(InputError) {
        switch peek() {
        case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer()
        case UInt8(ascii: "\""):
            position += 1
            _ = try string()
        default: _ = try value()
        }
    }

    private mutating func descend() throws(InputError) {
        guard depth < Self.depthLimit else {
            throw fail("arrays and objects are nested deeper than \(Self.depthLimit)", "Flatten the value.")
        }
        depth += 1
        position += 1
    }

    private mutating func ascend() {
        depth -= 1
        position += 1
    }

    @inline(__always)
    private mutating func take(
        _ byte: UInt8, problem: StaticString, remedy: StaticString
    ) throws(InputError) {
        guard position < end, base[position] == byte else {
            throw position < end ? fail(problem.description, remedy.description) : endOfLine()
        }
        position += 1
    }

    /// Copies the source of a container without the white space between its tokens.
    private mutating func minified(_ source: ByteSlice) -> ByteSlice {
        let target = scratch + scratchUsed
        var count = 0
        var isText = false
        var isEscaped = false
        for byte in source {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
            } else if byte <= 0x20 {
                continue
            } else if byte == UInt8(ascii: "\"") {
                isText = true
            }
            target[count] = byte
            count += 1
        }
        scratchUsed += count
        return ByteSlice(start: target, count: count)
    }

    /// Decodes a marker, which exports use for values that JSON can't represent. Only its exact spelling counts, so that everything else is kept
    /// unchanged: `{"$blob":"x"}` isn't base64 and therefore an ordinary object.
    private mutating func marker(_ source: ByteSlice) -> HistoryValue? {
        guard source.count >= 12, source[1] == UInt8(ascii: "\""), source[2] == UInt8(ascii: "$") else { return nil }
        if source.equals(#"{"$real":"Infinity"}"#) { return .real(.infinity) }
        if source.equals(#"{"$real":"-Infinity"}"#) { return .real(-.infinity) }
        guard ByteSlice(rebasing: source[0..<10]).equals(#"{"$blob":""#),
            ByteSlice(rebasing: source[(source.count - 2)...]).equals(#""}"#)
        else { return nil }
        let encoded = ByteSlice(rebasing: source[10..<source.count - 2])
        let target = scratch + scratchUsed
        guard let count = Base64.decode(encoded, into: target) else { return nil }
        scratchUsed += count
        return .blob(ByteSlice(start: target, count: count))
    }

    private func repeatedKey(_ key: ByteSlice, at offset: Int) -> InputError {
        fail("the key \"\(key.string)\" is repeated", "Keep one of the two.", at: offset)
    }
}
