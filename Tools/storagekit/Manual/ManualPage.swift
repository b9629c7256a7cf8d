import Foundation

/// The manual page of the tool, generated from the commands' descriptions.
struct ManualPage {
    private let tool: CommandDescription
    private let version: String
    private var roff = RoffWriter()

    /// - Parameter description: ArgumentParser's description of the tool, as JSON.
    init(_ description: String, version: String) throws {
        tool = try CommandDescription.read(description)
        self.version = version
    }

    /// The page in the macros of man(7).
    mutating func text() -> String {
        roff = RoffWriter()
        let name = tool.commandName
        // Without a date, so that the same program always generates the same page.
        roff.request("TH", name.uppercased(), "1", "", "StorageKit \(version)", "StorageKit Manual")
        // Without hyphenation, because options that are broken at hyphens couldn't be copied.
        roff.request("nh")
        roff.request("ad l")
        roff.section("NAME")
        let abstract = tool.abstract ?? ""
        roff.line(
            RoffWriter.escaped(name) + " \\- "
                + RoffWriter.escaped(abstract.prefix(1).lowercased() + abstract.dropFirst().trimmingSuffix(".")))
        roff.section("SYNOPSIS")
        roff.line(
            RoffWriter.bold(name) + " " + RoffWriter.italic("COMMAND") + " [" + RoffWriter.bold("-s") + " "
                + RoffWriter.italic("STORE") + "] [" + RoffWriter.italic("OPTION") + "]... ["
                + RoffWriter.italic("ARGUMENT") + "]...")
        roff.section("DESCRIPTION")
        roff.paragraphs(ManualText.description)
        roff.section("COMMANDS")
        for command in tool.subcommands ?? [] where command.commandName != "help" && command.shouldDisplay {
            write(command, path: [])
        }
        for (title, body) in ManualText.grammar {
            roff.section(title)
            for (term, meaning) in body { roff.term(RoffWriter.bold(term), meaning) }
        }
        roff.section("EXIT STATUS")
        for (status, meaning) in ManualText.statuses { roff.term(RoffWriter.bold("\(status.rawValue)"), meaning) }
        roff.section("ENVIRONMENT")
        for (variable, meaning) in ManualText.environment { roff.term(RoffWriter.bold(variable), meaning) }
        roff.section("SEE ALSO")
        roff.line(RoffWriter.bold("sqlite3") + "(1), " + RoffWriter.bold("zstd") + "(1)")
        return roff.text
    }

    private mutating func write(_ command: CommandDescription, path: [String]) {
        let path = path + [command.commandName]
        let arguments = (command.arguments ?? []).filter { $0.shouldDisplay && !$0.isCommon }
        let positional = arguments.filter { $0.kind == .positional }
        let usage = positional.map { argument in
            let name = RoffWriter.italic((argument.valueName ?? "value").uppercased())
            let repeated = name + (argument.isRepeating ? "..." : "")
            return argument.isOptional ? "[\(repeated)]" : repeated
        }
        roff.request("SS", ([RoffWriter.escaped(path.joined(separator: " "))] + usage).joined(separator: " "))
        roff.line(RoffWriter.escaped(command.abstract ?? ""))
        if let discussion = command.discussion { roff.paragraphs(discussion) }
        for argument in arguments { write(argument) }
        for part in command.subcommands ?? [] where part.commandName != "help" { write(part, path: path) }
    }

    private mutating func write(_ argument: CommandDescription.Argument) {
        let value = RoffWriter.italic((argument.valueName ?? "value").uppercased())
        var term = value
        if argument.kind != .positional {
            let names = (argument.names ?? []).sorted { $0.text.count < $1.text.count }
            term = names.map { RoffWriter.bold($0.text) }.joined(separator: ", ")
            if argument.kind == .option { term += " " + value }
        }
        var meaning = [argument.abstract, argument.discussion].compactMap { $0 }.joined(separator: " ")
        if let values = argument.allValues, !values.isEmpty {
            meaning += " One of \(values.joined(separator: ", "))."
        }
        if let usual = argument.defaultValue { meaning += " The default is \(usual)." }
        roff.term(term, meaning.trimmingCharacters(in: .whitespaces))
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ suffix: String) -> Substring { hasSuffix(suffix) ? dropLast(suffix.count) : self }
}
