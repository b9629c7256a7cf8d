/// An argument of a tool, and its counterpart on the command line.
struct MCPParameter: Sendable {
    enum Kind: Sendable {
        case text
        case texts
        case flag
        case choice([String])
        case count(ClosedRange<Int>)
    }

    /// The name of the command's option, with `_` for a hyphen.
    let name: String
    let kind: Kind
    /// The description; nil for the option's own help.
    let help: String?
    let isRequired: Bool
    /// Whether it is a positional argument of the command.
    let isPositional: Bool

    static func argument(_ name: String, _ help: String, isRequired: Bool = false, kind: Kind = .text) -> MCPParameter {
        MCPParameter(name: name, kind: kind, help: help, isRequired: isRequired, isPositional: true)
    }

    static func option(_ name: String, _ kind: Kind = .text) -> MCPParameter {
        MCPParameter(name: name, kind: kind, help: nil, isRequired: false, isPositional: false)
    }

    var optionName: String { "--" + name.replacing("_", with: "-") }

    /// Its JSON Schema.
    func schema(help: String) -> MCPValue {
        let type: MCPValue =
            switch kind {
            case .text: ["type": "string"]
            case .texts: ["type": "array", "items": ["type": "string"]]
            case .flag: ["type": "boolean"]
            case .choice(let words): ["type": "string", "enum": .array(words.map { .text($0) })]
            case .count(let range):
                [
                    "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
                ]
            }
        return type.adding(["description": .text(help)])
    }

    /// Returns the words of the command line for a value.
    ///
    /// - Parameter json: The value as the client sent it.
    /// - Throws: `usage` if the value has another type.
    func words(for json: String) throws(CommandError) -> [String] {
        let values = try values(of: json)
        if isPositional { return values }
        if case .flag = kind { return values.isEmpty ? [] : [optionName] }
        // As one word, so that a value that begins with a hyphen isn't parsed as an option.
        return values.map { "\(optionName)=\($0)" }
    }

    private func values(of json: String) throws(CommandError) -> [String] {
        switch kind {
        case .text: if let text = MCPMessage.string(json) { return [text] }
        case .texts:
            if let elements = try? MCPMessage.elements(of: json) {
                let texts = elements.compactMap(MCPMessage.string)
                if texts.count == elements.count { return texts }
            }
            // A string is accepted in place of an array, because its meaning is clear.
            if let text = MCPMessage.string(json) { return [text] }
        case .flag:
            if json == "true" { return ["true"] }
            if json == "false" { return [] }
        case .choice(let words):
            if let text = MCPMessage.string(json), words.contains(text) { return [text] }
        case .count(let range):
            if let number = Int(json), range.contains(number) { return ["\(number)"] }
        }
        throw CommandError(.usage, "\(name) is \(kind.description).", why: "Given is \(json.prefix(100)).")
    }
}

extension MCPParameter.Kind {
    fileprivate var description: String {
        switch self {
        case .text: "a string"
        case .texts: "an array of strings"
        case .flag: "true or false"
        case .choice(let words): words.map { "\"\($0)\"" }.joined(separator: " or ")
        case .count(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        }
    }
}
