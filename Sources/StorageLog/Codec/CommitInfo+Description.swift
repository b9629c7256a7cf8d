internal import Foundation

extension CommitInfo: CustomStringConvertible {
    /// The commit in one line: `t:12 2026-01-15T10:00:00Z anna (web), "import"`.
    public var description: String {
        (["t:\(number)", date.formatted(.iso8601)] + (metadata.text.map { [$0] } ?? [])).joined(separator: " ")
    }
}

extension CommitMetadata: CustomStringConvertible {
    /// All fields that are set, in one line: `anna (web), "import", correlation r-1, source=shop`.
    public var description: String { text ?? "none" }

    /// All fields that are set; nil if none is.
    fileprivate var text: String? {
        let author =
            switch (actor, app) {
            case (let actor?, let app?): "\(actor) (\(app))"
            case (let actor?, nil): actor
            case (nil, let app?): "(\(app))"
            case (nil, nil): String?.none
            }
        let named = [
            author, reason.map { "\"\($0)\"" }, correlation.map { "correlation \($0)" },
            idempotencyKey.map { "idempotency key \($0)" },
        ]
        let parts = named.compactMap { $0 } + attributes.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
