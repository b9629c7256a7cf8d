internal import StorageCore
package import StorageLog

/// The point at which a follower of a live query resumes: the state that it has, and the query and rights that it is a result of.
///
/// A result of another query, or under other rights, isn't continued: the follower receives the whole result.
package struct HubResumePoint: Sendable, Equatable {
    package let token: ChangeToken
    let fingerprint: String

    init(_ token: ChangeToken, _ fingerprint: String) { (self.token, self.fingerprint) = (token, fingerprint) }

    /// Parses the ``text`` of a point.
    package init?(text: String) {
        guard let end = text.lastIndex(of: "-"), let token = try? ChangeToken(text: String(text[..<end])) else {
            return nil
        }
        self.init(token, String(text[text.index(after: end)...]))
        // Only the canonical form is accepted.
        guard self.text == text, (1...16).contains(fingerprint.utf8.count),
            fingerprint.utf8.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
    }

    /// The state that the follower has; nil if it is a result of another query or other rights.
    func token(ofResultOf fingerprint: String) -> ChangeToken? { self.fingerprint == fingerprint ? token : nil }

    /// Opaque; made of letters, digits, points and minus signs.
    package var text: String { "\(token.text)-\(fingerprint)" }
}
