/// An argument of a tool, and where the command line has it.
struct MCPParameter: Sendable {
    enum Kind: Sendable {
        case text
        case texts
        case flag
        case choice([String])
        case count(ClosedRange<Int>)
    }

    /// As an option of the command is called, with `_` for a hyphen.
    let name: String
    let kind: Kind
    /// What it says; nil for an option of the command, which says it itself.
    let help: String?
    let isRequired: Bool
    /// Whether it is an argument of the command, and not an option.
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

    /// The words of the command line for a value.
    ///
    /// - Parameter json: The value as it was sent.
    /// - Throws: `usage` where it is another kind of value.
    func words(for json: String) throws(CommandError) -> [String] {
        let values = try values(of: json)
        if isPositional { return values }
        if case .flag = kind { return values.isEmpty ? [] : [optionName] }
        // In one word, so that a value that begins with a hyphen is no option.
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
            // What was meant is plain.
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
