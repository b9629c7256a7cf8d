import Foundation

/// Commands with what they print, as a page or a file has them.
///
/// A page has a block of shell, and behind it a block with the output. A file has lines that begin with `$`, each followed by its
/// output. In an output, `…` stands for any text, and a line that is nothing else for any number of lines.
struct TaskScript {
    struct Step {
        let command: String
        /// nil where nothing is said of the output.
        let expected: [String]?
    }

    private(set) var steps: [Step] = []

    /// - Parameter page: In Markdown.
    init(page: String) {
        var command: [String] = []
        var output: [String]?
        var fence: String?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                if fence == "sh" { command += [] }
                if fence == "text", !command.isEmpty {
                    steps.append(Step(command: command.joined(separator: "\n"), expected: output ?? []))
                    command = []
                }
                let opened = fence == nil ? String(line.dropFirst(3)) : nil
                if opened == "sh", !command.isEmpty {
                    steps.append(Step(command: command.joined(separator: "\n"), expected: nil))
                    command = []
                }
                (fence, output) = (opened, [])
            } else if fence == "sh" {
                command.append(line)
            } else if fence == "text" {
                output?.append(line)
            }
        }
        if !command.isEmpty { steps.append(Step(command: command.joined(separator: "\n"), expected: nil)) }
    }

    /// - Parameter session: Lines that begin with `#` are comments.
    init(session: String) {
        var command: String?
        var output: [String] = []
        for line in session.split(separator: "\n").map(String.init) + ["$ "] where !line.hasPrefix("#") {
            guard line.hasPrefix("$ ") else {
                output.append(line)
                continue
            }
            if let command { steps.append(Step(command: command, expected: output)) }
            (command, output) = (String(line.dropFirst(2)), [])
        }
    }

    /// Whether lines are as they are expected.
    static func matches(_ lines: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        if first == "…" {
            return matches(lines, expected.dropFirst()) || (!lines.isEmpty && matches(lines.dropFirst(), expected))
        }
        guard let line = lines.first, isLike(line, first) else { return false }
        return matches(lines.dropFirst(), expected.dropFirst())
    }

    private static func isLike(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.components(separatedBy: "…")
        guard parts.count > 1 else { return line == pattern }
        guard line.hasPrefix(parts[0]) else { return false }
        var rest = line.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.range(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(parts[parts.count - 1])
    }
}
