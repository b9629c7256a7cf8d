import Foundation

/// Options of which one says that nobody is to be asked.
protocol Confirming {
    var yes: Bool { get }
}

extension Confirming {
    /// Asks whether to go on.
    ///
    /// - Throws: `usage` where nobody can be asked; `negative` where the answer is no.
    func confirm(_ question: String) throws {
        if yes { return }
        guard Terminal(descriptor: 0).isTerminal else {
            throw CommandError(
                .usage, "Nothing was changed: confirmation needs a terminal.",
                next: "Check with --dry-run, then add --yes.")
        }
        FileHandle.standardError.write(Data("\(question) [y/N] ".utf8))
        let answer = readLine(strippingNewline: true)?.lowercased()
        guard answer == "y" || answer == "yes" else {
            throw CommandError(.negative, "Nothing was changed.")
        }
    }

    /// Asks whether to go on where somebody can be asked, and goes on elsewhere: for what a script says by the command
    /// alone, but a person may regret.
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
