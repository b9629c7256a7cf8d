import Foundation

/// A URL that names a point of a store: `storagekit://HOST/PATH?point=t:12`.
struct StoreLink: Equatable, Sendable {
    static let scheme = "storagekit"

    /// The name of this machine in links.
    static var host: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    let path: String
    let point: PointArgument

    /// - Parameter host: The name of this machine: stores on others can't be opened.
    init(_ text: String, host: String = StoreLink.host) throws(GrammarError) {
        let example = "A link looks like \(Self.scheme)://\(host)/home/anna/app.sqlite?point=t:12."
        guard let url = URLComponents(string: text), url.scheme?.lowercased() == Self.scheme, !url.path.isEmpty,
            let point = url.queryItems?.first(where: { $0.name == "point" })?.value
        else {
            throw GrammarError(problem: "'\(text)' isn't a link to a store.", examples: example)
        }
        let named = url.host ?? ""
        guard named.isEmpty || named == "localhost" || named.lowercased() == host.lowercased() else {
            throw GrammarError(
                problem: "The store of this link is on \(named).",
                examples:
                    "On that machine, type: \(ShellWords.line(["storagekit", "show", point, "-s", url.path]))"
            )
        }
        path = url.path
        self.point = try PointArgument(point, now: SystemTime.now)
    }
}
