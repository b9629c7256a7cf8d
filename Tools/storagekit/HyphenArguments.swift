import StorageCore

/// Lets `-2h` be typed where a point is expected.
///
/// ArgumentParser parses every word that begins with a hyphen as options: in `-1.5h` it would find `-h`. No option of ours begins with a digit, so
/// where a command expects a point, such a word becomes `now-2h`, which means the same. If it isn't a point, that is the error. Any other argument
/// is a name or a text, which must not be changed, and needs a `--` before it.
///
/// The value of an option may begin with a hyphen, as in other programs: `--actor -x`, `--where '-total > 5'`. ArgumentParser accepts it as `--actor=-x`.
/// A word that looks like a long option isn't a value, because then a value was forgotten: `--actor --oneline`.
///
/// SQL may begin with a comment, `-- like this`. It gets a space before it, which changes nothing in SQL.
enum HyphenArguments {
    /// The word after one of these options is a value.
    static let optionsWithText: Set<String> = [
        "-s", "--store", "--since", "--until", "--actor", "--app", "--reason", "-m", "--table", "--column",
        "--at", "--note", "--ignore", "--in", "--to", "--break", "--watch", "--old", "--new", "--projection",
        "--format", "--color", "--time", "--where", "--changed", "--correlation", "-n", "--limit", "--of", "--key",
        "--template", "--fields", "--schema", "--op", "--aggregate", "--by", "--for", "--from", "--group",
        "--host", "--host-name", "--include", "--key-column", "--link", "--maximum-body", "--maximum-bytes",
        "--maximum-connections", "--maximum-rate", "--on-conflict", "--order", "--origin", "-o", "--output", "--pace",
        "--page", "--path", "--port", "--position", "--read", "--run", "--search", "--sql", "--tenant",
        "--tenant-column", "--time-limit", "--tls-certificate", "--tls-key", "--write", "--write-only",
    ]
    /// Those of them that are flags of other commands.
    static let flags: [String: Set<String>] = ["log": ["--schema"], "tail": ["--schema"]]
    /// ArgumentParser accepts a value with a hyphen after these only in the other form.
    static let optionsWithPoints: Set<String> = ["--each", "--diff-with", "--expires"]

    /// The indices of the arguments that may be points, by command.
    private static let pointIndices: [String: ClosedRange<Int>] = [
        "log": 0...Int.max, "show": 0...Int.max, "diff": 0...Int.max, "grep": 1...Int.max, "bisect": 0...Int.max,
        "at": 0...0, "ui": 0...Int.max, "replay": 0...Int.max, "compare-replay": 0...Int.max, "tag": 1...1,
        "note": 0...0, "revert": 0...Int.max, "undo": 0...Int.max, "redo": 0...Int.max,
        "restore-state": 0...Int.max,
        // The first one is the subcommand.
        "schema": 1...Int.max,
    ]

    /// The indices of the arguments that may be SQL, by command.
    private static let queryIndices: [String: ClosedRange<Int>] = [
        "sql": 0...0, "exec": 0...0, "explain": 0...0, "at": 1...1, "bisect": 0...1,
    ]

    /// Commands that list a number of items, newest first.
    private static let countingCommands: Set<String> = ["log", "tail", "history", "grep"]

    private static func isCount(_ word: String) -> Bool {
        word.count > 1 && word.hasPrefix("-") && word.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// - Throws: `usage` if a name or a text begins like an option.
    static func protected(_ arguments: [String]) throws(CommandError) -> [String] {
        var output: [String] = []
        var isLiteral = false
        // The command itself is the first argument.
        var index = -1
        for argument in arguments {
            let isValue = isLiteral || takesValue(output.last ?? "", of: output.first ?? "")
            if isValue, !isLiteral, isHyphenatedValue(argument), let option = output.popLast() {
                output.append("\(option)=\(argument)")
                continue
            }
            if !isValue, countingCommands.contains(output.first ?? ""), isCount(argument) {
                // As in git, -5 is -n 5.
                output += ["-n", String(argument.dropFirst())]
                continue
            }
            if !isValue, argument.hasPrefix("-n"), isCount("-" + argument.dropFirst(2)) {
                output += ["-n", String(argument.dropFirst(2))]
                continue
            }
            let isRelative = !isValue && isRelative(argument)
            let isPoint =
                optionsWithPoints.contains(output.last ?? "")
                || pointIndices[output.first ?? ""]?.contains(index) ?? false
            let isQuery =
                !isValue && queryIndices[output.first ?? ""]?.contains(index) ?? false && beginsWithComment(argument)
            let isText = isRelative ? !isPoint : !isValue && !isQuery && isTarget(argument)
            if isText, index >= 0 {
                throw CommandError(
                    .usage, "'\(argument)' begins with a hyphen, as options do.",
                    next: "Put -- before it: \([argument].quotedAsOperands)")
            }
            output.append((isRelative && isPoint ? "now" : isQuery ? " " : "") + argument)
            // After this every word is an argument anyway.
            if argument == "--" { isLiteral = true }
            if !isValue, isRelative || isQuery || !argument.hasPrefix("-") { index += 1 }
        }
        return output
    }

    private static func takesValue(_ option: String, of command: String) -> Bool {
        optionsWithText.contains(option) && !(flags[command]?.contains(option) ?? false)
    }

    private static func isHyphenatedValue(_ word: String) -> Bool {
        word.count > 1 && word.hasPrefix("-") && (!word.hasPrefix("--") || word.dropFirst(2).first?.isLetter == false)
    }

    /// Returns whether a word is a row or a cell: no option has these signs in its name. After a short one a value may follow directly.
    private static func isTarget(_ word: String) -> Bool {
        !optionsWithText.contains(String(word.prefix(2))) && word.hasPrefix("-")
            && word.prefix { $0 != "=" }.contains { $0 == "/" || $0 == "#" }
    }

    /// Returns whether a word is SQL after a comment: no option has white space in its name.
    private static func beginsWithComment(_ word: String) -> Bool {
        word.hasPrefix("--") && word.prefix { $0 != "=" }.contains(where: \.isWhitespace)
    }

    private static func isRelative(_ word: String) -> Bool {
        word.hasPrefix("-") && word.dropFirst().first?.isNumber == true
    }
}
