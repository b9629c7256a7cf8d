/// The rules for names of tags. A name occurs in points and ranges, so `tag:NAME`, `tag:NAME~2` and `tag:A..tag:B` must be
/// unambiguous.
package enum TagName {
    /// The longest name in bytes of UTF-8.
    package static let limit = 200

    /// The reason why a name is invalid; nil if it is valid.
    package static func problem(with name: String) -> String? {
        if name.isEmpty { return "it is empty" }
        if name.utf8.count > limit { return "it is longer than \(limit) bytes" }
        if name.hasPrefix("-") { return "it begins with a hyphen, like an option" }
        if name.unicodeScalars.contains(where: { $0.properties.isWhitespace }) { return "it has a space in it" }
        if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "it has a control character in it"
        }
        if name.utf8.contains(UInt8(ascii: ":")) { return "it has a colon in it" }
        if name.utf8.contains(UInt8(ascii: "~")) { return "it has a tilde in it" }
        if name.contains("..") || name.hasSuffix(".") { return "it has two dots in it, or one at its end" }
        return nil
    }

    /// - Throws: `invalid-name`.
    package static func validate(_ name: String) throws {
        guard let problem = problem(with: name) else { return }
        throw StorageError(
            .invalidName, "\"\(name)\" can't be the name of a tag: \(problem).",
            remedy: "Choose a name like release-3 or before/import.")
    }
}
