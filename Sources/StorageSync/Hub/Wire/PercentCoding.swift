internal import StorageCore

/// Percent-encoding of names and values in URLs.
///
/// Source: RFC 3986, sections 2.1 and 2.3.
package enum PercentCoding {
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    /// Encodes everything but unreserved characters, for use in a path component or a query.
    package static func encoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if unreserved.contains(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded += Hexadecimal.text([byte]).uppercased().utf8
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// - Parameter isForm: Whether a plus sign represents a space, as in a query.
    /// - Returns: nil if the text isn't valid percent-encoding of UTF-8, or contains NUL.
    package static func decoded(_ text: some StringProtocol, isForm: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = String(Substring(rest.prefix(2))).lowercased()
                guard let value = Hexadecimal.bytes(digits), value.count == 1 else { return nil }
                bytes += value
                rest.removeFirst(2)
            case UInt8(ascii: "+") where isForm: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
