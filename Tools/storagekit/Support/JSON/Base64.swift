/// Base64 (RFC 4648 section 4, with padding), straight between buffers.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each character; 64 for those outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    static func encode(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let second = left > 1 ? bytes[index + 1] : 0
            let third = left > 2 ? bytes[index + 2] : 0
            let group = UInt32(bytes[index]) << 16 | UInt32(second) << 8 | UInt32(third)
            output.append(alphabet[Int(group >> 18)])
            output.append(alphabet[Int(group >> 12 & 63)])
            output.append(left > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
            output.append(left > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
            index += 3
        }
    }

    /// Writes up to three bytes for each four characters to `target`, and returns their number.
    ///
    /// Returns nil for anything but the output of `encode`: another spelling of the same bytes couldn't be exported unchanged. `target` may have been
    /// written to even then.
    static func decode(_ text: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<UInt8>) -> Int? {
        guard text.count % 4 == 0 else { return nil }
        var count = 0
        for start in stride(from: 0, to: text.count, by: 4) {
            let isLast = start + 4 == text.count
            let padding =
                isLast && text[start + 3] == UInt8(ascii: "=") ? (text[start + 2] == UInt8(ascii: "=") ? 2 : 1) : 0
            var group: UInt32 = 0
            for index in 0..<4 {
                let value = index < 4 - padding ? values[Int(text[start + index])] : 0
                guard value < 64 else { return nil }
                group = group << 6 | UInt32(value)
            }
            // Unused bits must be zero.
            guard group & (1 << UInt32(8 * padding) - 1) == 0 else { return nil }
            for index in 0..<3 - padding {
                target[count] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index))
                count += 1
            }
        }
        return count
    }
}
