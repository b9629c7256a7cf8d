import Foundation

/// The pattern that `grep` searches values for: literal text, or a regular expression (ICU's, as in Foundation).
///
/// Not `Sendable`: it is used where it is created.
final class ValuePattern {
    private let bytes: [UInt8]
    private let expression: NSRegularExpression?
    /// Whether a number or a boolean could match in its shown form.
    let canMatchNumbers: Bool

    /// - Throws: `usage` for an invalid regular expression.
    init(_ text: String, isExpression: Bool, ignoresCase: Bool) throws(CommandError) {
        bytes = Array(text.utf8)
        guard isExpression || ignoresCase else {
            expression = nil
            canMatchNumbers = Self.canMatchNumbers(bytes)
            return
        }
        let source = isExpression ? text : NSRegularExpression.escapedPattern(for: text)
        do {
            expression = try NSRegularExpression(
                pattern: source, options: ignoresCase ? [.caseInsensitive, .anchorsMatchLines] : [.anchorsMatchLines])
        } catch {
            throw CommandError(
                .usage, "'\(text)' isn't a regular expression.",
                why: "A bracket isn't closed, or * has nothing to repeat.",
                next: "Escape literal characters with a backslash, or omit -G.")
        }
        canMatchNumbers = true
    }

    /// Returns whether every byte can occur in a number, `true`, `false` or `Infinity`.
    private static func canMatchNumbers(_ bytes: [UInt8]) -> Bool {
        let signs = Set("0123456789.+-e{}\":$realtrufsInfinityNa".utf8)
        return bytes.allSatisfy(signs.contains)
    }

    func matches(_ value: UnsafeRawBufferPointer) -> Bool {
        guard expression != nil else { return contains(value) }
        guard let text = String(validating: value, as: UTF8.self) else { return false }
        return matches(text)
    }

    /// Searches from one occurrence of the pattern's first byte to the next.
    private func contains(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first, var start = value.baseAddress else { return bytes.isEmpty }
        var count = value.count
        while count >= bytes.count, let match = memchr(start, Int32(first), count - bytes.count + 1) {
            if memcmp(match, bytes, bytes.count) == 0 { return true }
            count -= UnsafeRawPointer(match) - start + 1
            start = UnsafeRawPointer(match) + 1
        }
        return false
    }

    func matches(_ text: String) -> Bool { firstRange(in: text) != nil }

    /// Returns the range of the first match.
    func firstRange(in text: String) -> Range<String.Index>? {
        guard let expression else {
            return text.range(of: String(decoding: bytes, as: UTF8.self), options: .literal)
        }
        let all = NSRange(text.startIndex..<text.endIndex, in: text)
        return expression.firstMatch(in: text, range: all).flatMap { Range($0.range, in: text) }
    }
}
