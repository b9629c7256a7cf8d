import Foundation

/// Options that include one to skip the confirmation.
protocol Confirming {
    var yes: Bool { get }
}

extension Confirming {
    /// Asks whether to continue.
    ///
    /// - Throws: `usage` if there is no terminal to ask on, or the question can't be shown; `negative` if the answer is no.
    func confirm(_ question: String) throws { try confirm(shown: TerminalText.visible(question)) }

    /// Asks the same with text that ``TerminalText`` has returned.
    func confirm(shown question: String) throws {
        if yes { return }
        guard Terminal(descriptor: 0).isTerminal else {
            throw CommandError(
                .usage, "Nothing was changed: confirmation needs a terminal.",
                next: "Check with --dry-run, then add --yes.")
        }
        do {
            try FileHandle.standardError.write(contentsOf: Data("\(question) [y/N] ".utf8))
        } catch {
            throw CommandError(
                .usage, "Nothing was changed: the question can't be written to standard error.",
                next: "Check with --dry-run, then add --yes.")
        }
        let answer = readLine(strippingNewline: true)?.lowercased()
        guard answer == "y" || answer == "yes" else {
            throw CommandError(.negative, "Nothing was changed.")
        }
    }

    /// Asks whether to continue on a terminal, and continues elsewhere: for commands that scripts may run without `--yes`, but a person may regret.
    func confirmIfAttended(_ question: String) throws {
        guard Terminal(descriptor: 0).isTerminal else { return }
        try confirm(question)
    }

    /// Asks before a file is replaced that `--force` allows to be replaced.
    func confirmReplacing(_ path: String, isForced: Bool) throws {
        guard isForced, FileManager.default.fileExists(atPath: path) else { return }
        try confirmIfAttended("Replace \(path)?")
    }
}
