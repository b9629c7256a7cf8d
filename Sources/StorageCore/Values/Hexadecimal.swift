/// Bytes as lowercase hexadecimal digits.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// - Returns: nil for anything that ``text(_:)`` doesn't produce.
    package static func bytes(_ text: String) -> [UInt8]? {
        let values = text.utf8.compactMap { digits.firstIndex(of: $0).map { UInt8($0) } }
        guard values.count == text.utf8.count, values.count % 2 == 0 else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
