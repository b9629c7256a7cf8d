import ArgumentParser
import Foundation
import StorageCore

/// Suggestions for arguments in the wrong order or form.
extension FirstGuesses {
    /// Returns the line to type instead of words that a command can't parse.
    ///
    /// - Parameters:
    ///   - message: ArgumentParser's message.
    ///   - words: The words of the command line, the command first.
    static func next(for message: String, _ words: [String], root: any ParsableCommand.Type) -> String? {
        guard let command = words.first else { return nil }
        if message.hasPrefix("Unknown option"), let option = quoted(in: message) {
            return next(forOption: option, of: command)
        }
        let arguments = positional(words.dropFirst())
        if message.contains("nexpected argument") || message.contains("isn't a point"),
            let line = next(for: command, arguments, output: value(of: ["-o", "--output"], words))
        {
            return line
        }
        let hasExample = ["Missing expected argument", "diff needs ", "Give either ", "Name a table"].contains {
            message.hasPrefix($0)
        }
        guard hasExample else { return nil }
        if command == "restore", let first = arguments.first, first.contains("/"),
            !FileManager.default.fileExists(atPath: first)
        {
            return "To bring rows back: storagekit restore-state POINT \(first.quotedAsShellWord) --dry-run"
        }
        return example(of: [command] + arguments, root: root)
    }

    /// - Parameter output: The file to write, if one is named.
    private static func next(for command: String, _ arguments: [String], output: String?) -> String? {
        let first = arguments.first ?? ""
        let rest = ShellWords.line(Array(arguments.dropFirst()))
        if command == "backup", arguments.count == 2, isStore(first) {
            return "Type: storagekit backup \(rest) -s \(first.quotedAsShellWord)"
        }
        if command == "restore", arguments.count > 1, FileManager.default.fileExists(atPath: first) {
            let words = ShellWords.line([first, "--to", arguments[1], "-o", output ?? "restored.sqlite"])
            return "The point is an option: storagekit restore \(words)"
        }
        if isStore(first), command != "adopt", command != "import" {
            let words = [command, rest].filter { !$0.isEmpty }.joined(separator: " ")
            return "The store is an option: storagekit \(words) -s \(first.quotedAsShellWord)"
        }
        switch command {
        case "sql", "at", "exec", "bisect", "explain":
            if command == "at", arguments.count == 2, (try? PointArgument(arguments[1], now: 0)) != nil {
                return "The point comes first: storagekit at \(rest) \(first.quotedAsShellWord)"
            }
            let isStatement = ["select", "with", "values"].contains(first.lowercased())
            // The error of the point says which forms there are.
            if command == "at", !isStatement, (try? PointArgument(first, now: 0)) == nil { return nil }
            let complete = command == "at" && !isStatement ? 2 : 1
            return arguments.count > complete && !first.contains(" ") ? "Write the SQL as one word, in quotes." : nil
        case "show" where first.contains("/"):
            return "The versions of a row: storagekit history \(first.quotedAsShellWord)"
        case "show" where first.allSatisfy({ $0.isLetter || $0 == "_" }) && !first.isEmpty:
            guard PointSuggestion.likely(first) == nil else { return nil }
            return "A point is head, t:77, @1234 or -2h. The commits of a table: storagekit log \(first)"
        case "history", "blame", "restore-state":
            guard arguments.count == 2, !first.contains("/") else { return nil }
            return "Write the row as one word: storagekit \(command) \("\(first)/\(arguments[1])".quotedAsShellWord)"
        default: return nil
        }
    }

    /// The first example of a command's own help.
    private static func example(of words: [String], root: any ParsableCommand.Type) -> String? {
        var type = root
        for word in words {
            guard let next = type.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            type = next
        }
        let line = type.configuration.discussion.split(separator: "\n").first { $0.hasPrefix("  storagekit ") }
        return line.map { "For example: \($0.drop { $0 == " " })" }
    }

    private static func quoted(in message: String) -> String? {
        let parts = message.split(separator: "'", omittingEmptySubsequences: false)
        return parts.count > 2 ? String(parts[1]) : nil
    }

    private static func value(of options: [String], _ words: [String]) -> String? {
        words.firstIndex(where: options.contains).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
    }

    /// Returns the words that are neither options nor values of the common ones.
    private static func positional(_ words: ArraySlice<String>) -> [String] {
        var found: [String] = []
        var isValue = false
        for word in words {
            if word.hasPrefix("-"), word.count > 1 {
                isValue = ["-s", "--store", "-n", "--limit", "--format", "-m", "--reason", "--to", "-o"].contains(word)
            } else {
                if !isValue { found.append(word) }
                isValue = false
            }
        }
        return found
    }
}
