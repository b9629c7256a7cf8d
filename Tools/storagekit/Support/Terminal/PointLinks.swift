import Foundation

/// The links of points in a terminal: URLs from a user-defined template.
///
/// `{point}` is the point as it can be typed, `{commit}` and `{position}` a number, `{store}` the absolute path of the store, `{host}` the name of
/// this machine. A point that lacks a field of the template isn't a link.
struct PointLinks: Equatable, Sendable {
    enum Field: String, CaseIterable, Sendable {
        case point, commit, position, store, host
    }

    static let environmentKey = "STORAGEKIT_LINK"

    /// Named templates. `storagekit ui --link` opens the URLs of this one.
    static let named = ["ui": "\(StoreLink.scheme)://{host}{store}?point={point}"]

    private enum Part: Equatable, Sendable {
        case text(String)
        case field(Field)
    }

    private let parts: [Part]
    private let store: String?
    private let host: String

    /// - Parameters:
    ///   - template: A URL with fields, or a template's name.
    ///   - store: The absolute path of the store.
    /// - Throws: `GrammarError` with an example of a template.
    init(_ template: String, store: String?, host: String) throws(GrammarError) {
        var parts: [Part] = []
        var rest = (Self.named[template] ?? template)[...]
        // The URL becomes part of a terminal's escape sequence, which allows only the characters of a URL.
        guard let colon = rest.firstIndex(of: ":"),
            rest[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || "+-.".contains($0)) }),
            colon > rest.startIndex, rest.unicodeScalars.allSatisfy({ (0x21...0x7e).contains($0.value) })
        else { throw Self.error("'\(template)' isn't the template of a URL.") }
        while let brace = rest.firstIndex(of: "{") {
            parts.append(.text(String(rest[..<brace])))
            let name = rest[rest.index(after: brace)...].prefix { $0 != "}" }
            guard let field = Field(rawValue: String(name)), name.endIndex < rest.endIndex else {
                throw Self.error("A link has no field '\(name)'.")
            }
            parts.append(.field(field))
            rest = rest[rest.index(after: name.endIndex)...]
        }
        self.parts = parts + [.text(String(rest))]
        self.store = store
        self.host = host
    }

    private static func error(_ problem: String) -> GrammarError {
        let fields = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
        return GrammarError(
            problem: problem,
            examples:
                "\(environmentKey) is ui, or a URL such as https://audit.example/?at={point}, with the fields \(fields)."
        )
    }

    /// Returns the URL of a point; nil if it lacks a field.
    func url(of point: PointArgument) -> String? {
        var url = ""
        for part in parts {
            switch part {
            case .text(let text): url += text
            case .field(let field):
                guard let value = value(of: field, point) else { return nil }
                // The path keeps its slashes, and a point the characters that aren't delimiters.
                url += value.addingPercentEncoding(withAllowedCharacters: Self.unescaped) ?? ""
            }
        }
        return url
    }

    private static let unescaped = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/:@")

    private func value(of field: Field, _ point: PointArgument) -> String? {
        switch (field, point) {
        case (.point, _): "\(point)"
        case (.commit, .commit(let number)): "\(number)"
        case (.position, .position(let number)): "\(number)"
        case (.commit, _), (.position, _): nil
        case (.store, _): store
        case (.host, _): host
        }
    }
}

extension PointLinks {
    /// Creates links from the environment's template for the store that a command line names; nil if there is none.
    ///
    /// - Throws: `GrammarError` if the template is invalid.
    init?(_ words: [String], environment: [String: String]) throws(GrammarError) {
        guard let template = environment[Self.environmentKey], !template.isEmpty else { return nil }
        let store = Self.store(words) ?? environment["STORAGEKIT_STORE"]
        try self.init(
            template, store: store.map { URL(fileURLWithPath: $0).standardizedFileURL.path }, host: StoreLink.host)
    }

    /// Returns the store that a command line names.
    static func store(_ words: [String]) -> String? {
        let words = words.prefix { $0 != "--" }
        for (word, next) in zip(words, words.dropFirst() + [""]) {
            if word == "-s" || word == "--store" { return next.isEmpty ? nil : next }
            if word.hasPrefix("--store=") { return String(word.dropFirst("--store=".count)) }
        }
        return nil
    }

    /// The links of this process.
    static let current = Result { () throws(GrammarError) in
        try PointLinks(CommandLine.arguments, environment: ProcessInfo.processInfo.environment)
    }
}
