/// Lets `-2h` be typed where an argument is expected.
///
/// ArgumentParser takes every word that begins with a hyphen for options. No option of ours begins with a digit, so a
/// word that is a point or range of that kind becomes `now-2h`, which means the same, before it is parsed.
enum RelativePoints {
    /// The word after one of these is a value whatever it looks like.
    private static let optionsWithText: Set<String> = [
        "-s", "--store", "--since", "--until", "--actor", "--app", "--reason", "--table", "--column",
        "--at", "--note", "--ignore", "--in", "--to", "--break", "--watch", "--old", "--new", "--projection",
    ]

    static func protected(_ arguments: [String]) -> [String] {
        var output: [String] = []
        var isLiteral = false
        for argument in arguments {
            let isValue = isLiteral || optionsWithText.contains(output.last ?? "")
            output.append(!isValue && isRelative(argument) ? "now" + argument : argument)
            // After this everything is an argument already.
            if argument == "--" { isLiteral = true }
        }
        return output
    }

    private static func isRelative(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word.dropFirst().first?.isNumber == true else { return false }
        return (try? PointArgument(word, now: 0)) != nil || (try? PointRange(word, now: 0)) != nil
    }
}
