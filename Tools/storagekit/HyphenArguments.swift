/// Lets `-2h` be typed where an argument is expected.
///
/// ArgumentParser parses every word that begins with a hyphen as options. No option of ours begins with a digit, so a word that is a point or range
/// of that kind becomes `now-2h`, which means the same, before it is parsed.
enum HyphenArguments {
    /// The word after one of these options is always a value.
    private static let optionsWithText: Set<String> = [
        "-s", "--store", "--since", "--until", "--actor", "--app", "--reason", "-m", "--table", "--column",
        "--at", "--note", "--ignore", "--in", "--to", "--break", "--watch", "--old", "--new", "--projection",
        "--format", "--color", "--time", "--where", "--changed", "--correlation", "-n", "--limit", "--of", "--key",
        "--template", "--fields",
        "--schema", "--op",
    ]

    /// Commands with a free-text argument, and its index among the arguments.
    private static let textIndices = ["grep": 1, "note": 2]

    /// Commands that list a number of items, newest first.
    private static let countingCommands: Set<String> = ["log", "tail", "history", "grep"]

    private static func isCount(_ word: String) -> Bool {
        word.count > 1 && word.hasPrefix("-") && word.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    static func protected(_ arguments: [String]) -> [String] {
        var output: [String] = []
        var isLiteral = false
        var index = 0
        for argument in arguments {
            let isValue = isLiteral || optionsWithText.contains(output.last ?? "")
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
            // Free text isn't changed: ArgumentParser reports that it needs a -- before it.
            let isText = index > 0 && index == textIndices[output.first ?? ""]
            output.append(isRelative && !isText ? "now" + argument : argument)
            // After this every word is an argument anyway.
            if argument == "--" { isLiteral = true }
            if !isValue, isRelative || !argument.hasPrefix("-") { index += 1 }
        }
        return output
    }

    private static func isRelative(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word.dropFirst().first?.isNumber == true else { return false }
        return (try? PointArgument(word, now: 0)) != nil || (try? PointRange(word, now: 0)) != nil
            || PointList(argument: word) != nil
            // Almost a point: the error of its parser says what to write.
            || PointSuggestion.likely(word) != nil
    }
}
