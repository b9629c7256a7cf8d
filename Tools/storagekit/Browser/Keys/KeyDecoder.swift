/// Decodes the bytes that a terminal sends into keys (ECMA-48, and xterm's control sequences).
///
/// Bytes may arrive in any pieces. Escape also begins every sequence, so it counts as a key only if nothing follows it for a while: the caller then
/// calls `flush`.
struct KeyDecoder: Sendable {
    private var bytes: [UInt8] = []

    /// Whether an incomplete sequence was received that may be a key by itself.
    var isPending: Bool { !bytes.isEmpty }

    mutating func add(_ more: some Sequence<UInt8>) -> [Key] {
        bytes += more
        return keys(isEnd: false)
    }

    /// Returns the keys of the bytes so far, given that nothing follows them.
    mutating func flush() -> [Key] { keys(isEnd: true) }

    private mutating func keys(isEnd: Bool) -> [Key] {
        var keys: [Key] = []
        while let first = bytes.first {
            guard let (key, length) = next(first, isEnd: isEnd) else { break }
            if let key { keys.append(key) }
            bytes.removeFirst(length)
        }
        return keys
    }

    /// Returns the first key and its number of bytes; a nil key for an unknown sequence, nil if more bytes are needed.
    private func next(_ first: UInt8, isEnd: Bool) -> (key: Key?, length: Int)? {
        switch first {
        case 0x1b: return escape(isEnd: isEnd)
        case 0x0d, 0x0a: return (.enter, 1)
        case 0x09: return (.tab, 1)
        case 0x7f, 0x08: return (.backspace, 1)
        case 0x01...0x1a: return (.control(Character(UnicodeScalar(first + 0x60))), 1)
        case 0..<0x20: return (nil, 1)
        default: return character(first, isEnd: isEnd)
        }
    }

    private func character(_ first: UInt8, isEnd: Bool) -> (key: Key?, length: Int)? {
        let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
        guard first < 0x80 || (0xc2...0xf4).contains(first) else { return (nil, 1) }
        guard bytes.count >= length else {
            let isBroken = bytes.dropFirst().contains { $0 & 0xc0 != 0x80 }
            return isEnd || isBroken ? (nil, 1) : nil
        }
        guard let text = String(validating: bytes[..<length], as: UTF8.self), let character = text.first else {
            return (nil, 1)
        }
        return (.character(character), length)
    }

    private func escape(isEnd: Bool) -> (key: Key?, length: Int)? {
        guard bytes.count > 1 else { return isEnd ? (.escape, 1) : nil }
        switch bytes[1] {
        case UInt8(ascii: "["): return sequence(isEnd: isEnd)
        case UInt8(ascii: "O"):
            guard bytes.count > 2 else { return isEnd ? (.escape, 2) : nil }
            return (Self.letterKeys[bytes[2]], 3)
        // Escape right before another key looks the same as Alt with that key; no key is bound to Alt here.
        default: return (.escape, 1)
        }
    }

    /// `ESC [ parameters letter`
    private func sequence(isEnd: Bool) -> (key: Key?, length: Int)? {
        var index = 2
        while index < bytes.count, (0x20...0x3f).contains(bytes[index]) { index += 1 }
        guard index < bytes.count else {
            // A sequence that doesn't end is dropped, so that it can't grow.
            return isEnd || bytes.count > 64 ? (bytes.count > 2 ? nil : .escape, bytes.count) : nil
        }
        let last = bytes[index]
        guard (0x40...0x7e).contains(last) else { return (nil, index) }
        guard last == UInt8(ascii: "~") else { return (Self.letterKeys[last], index + 1) }
        let number = Int(String(decoding: bytes[2..<index].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self))
        return (number.flatMap { Self.numberedKeys[$0] }, index + 1)
    }

    private static let letterKeys: [UInt8: Key] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right, UInt8(ascii: "D"): .left,
        UInt8(ascii: "H"): .home, UInt8(ascii: "F"): .end, UInt8(ascii: "Z"): .backTab, UInt8(ascii: "M"): .enter,
    ]
    private static let numberedKeys: [Int: Key] = [
        1: .home, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
    ]
}
