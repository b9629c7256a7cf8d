import Foundation

/// What a terminal opens where a point is clicked: a URL from a template of the user's own.
///
/// `{point}` is the point as it can be typed, `{commit}` and `{position}` a number, `{store}` the absolute path of the store,
/// `{host}` the name of this machine. A point that lacks a field of the template is no link.
struct PointLinks: Equatable, Sendable {
    enum Field: String, CaseIterable, Sendable {
        case point, commit, position, store, host
    }

    static let environmentKey = "STORAGEKIT_LINK"

    /// Templates that have a name. `storagekit ui --link` reads what this one makes.
    static let named = ["ui": "\(StoreLink.scheme)://{host}{store}?point={point}"]

    private enum Part: Equatable, Sendable {
        case text(String)
        case field(Field)
    }

    private let parts: [Part]
    private let store: String?
    private let host: String

    /// - Parameters:
    ///   - template: A URL with fields, or a name of one.
    ///   - store: The absolute path of the store.
    /// - Throws: A `GrammarError` that says what a template looks like.
    init(_ template: String, store: String?, host: String) throws(GrammarError) {
        var parts: [Part] = []
        var rest = (Self.named[template] ?? template)[...]
        // It ends up inside of a command to the terminal, which takes nothing but the characters of a URL.
        guard let colon = rest.firstIndex(of: ":"),
            rest[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || "+-.".contains($0)) }),
            colon > rest.startIndex, rest.unicodeScalars.allSatisfy({ (0x21...0x7e).contains($0.value) })
        else { throw Self.error("'\(TerminalText.visible(template))' isn't the template of a URL.") }
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

    /// The URL of a point; nil where it lacks a field.
    func url(of point: PointArgument) -> String? {
        var url = ""
        for part in parts {
            switch part {
            case .text(let text): url += text
            case .field(let field):
                guard let value = value(of: field, point) else { return nil }
                // The path keeps its slashes, and a point what can't be mistaken for a delimiter.
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
    /// The template of the environment for the store that a command line names; nil where there is none.
    ///
    /// - Throws: A `GrammarError` where it isn't one.
    init?(_ words: [String], environment: [String: String]) throws(GrammarError) {
        guard let template = environment[Self.environmentKey], !template.isEmpty else { return nil }
        let store = Self.store(words) ?? environment["STORAGEKIT_STORE"]
        try self.init(
            template, store: store.map { URL(fileURLWithPath: $0).standardizedFileURL.path }, host: StoreLink.host)
    }

    /// The store as a command line names it.
    static func store(_ words: [String]) -> String? {
        let words = words.prefix { $0 != "--" }
        for (word, next) in zip(words, words.dropFirst() + [""]) {
            if word == "-s" || word == "--store" { return next.isEmpty ? nil : next }
            if word.hasPrefix("--store=") { return String(word.dropFirst("--store=".count)) }
        }
        return nil
    }

    /// Those of this process.
    static let current = Result { () throws(GrammarError) in
        try PointLinks(CommandLine.arguments, environment: ProcessInfo.processInfo.environment)
    }
}
