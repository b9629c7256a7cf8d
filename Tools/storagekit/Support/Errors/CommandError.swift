import Foundation
import StorageCore

/// Why a command stops: what happened, why, and what to type next, each on one line.
struct CommandError: Error, Sendable {
    let status: ExitStatus
    /// What happened, in one sentence.
    let what: String
    /// Why, in one sentence; empty if that is obvious.
    let why: String
    /// What to do about it: a sentence, or a command to type.
    let next: String

    init(_ status: ExitStatus, _ what: String, why: String = "", next: String = "") {
        self.status = status
        self.what = what
        self.why = why
        self.next = next
    }

    /// The error for an invalid line of input.
    init(_ error: InputError, line: Int, status: ExitStatus = .conflict) {
        self.init(
            status, "Line \(line), byte \(error.offset + 1): \(error.problem).",
            why: "Nothing of the commit that this line belongs to was stored.", next: error.remedy)
    }

    /// Converts ArgumentParser's error for the words of a command.
    ///
    /// - Parameters:
    ///   - message: Its message. It quotes our own error about a word, which has the advice on a second line.
    ///   - whole: The message with lines about the usage, the last of which names the command's help.
    init(usage message: String, of whole: String) {
        let lines = Self.valuesOnOneLine(Self.likeliest(message)).split(separator: "\n", maxSplits: 1).map(String.init)
        let help = whole.split(separator: "\n").last.flatMap { line in
            line.ranges(of: "See '").first.map { String(line[$0.upperBound...].prefix { $0 != "'" }) }
        }
        let seeHelp = "Type: \(help ?? "storagekit --help")"
        var what = lines.first ?? message
        // "The value 'soon' is invalid for '<point>': 'soon' isn't a point in history."
        if lines.count > 1, let quoted = what.ranges(of: "': '").first { what = "'" + what[quoted.upperBound...] }
        self.init(
            .usage, what.hasSuffix(".") || what.hasSuffix("?") ? what : what + ".",
            next: lines.count > 1 ? lines[1] : seeHelp)
    }

    /// The parser lists every way in which it tried to read the words.
    private static func likeliest(_ message: String) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("or: ") }.joined(separator: "\n")
    }

    /// The parser lists more than a few values below each other.
    private static func valuesOnOneLine(_ message: String) -> String {
        guard let list = message.ranges(of: "one of the following:\n  - ").first else { return message }
        return message[..<list.lowerBound] + "one of " + message[list.upperBound...].replacing("\n  - ", with: ", ")
    }

    /// Returns the error with the store's name in the command that it suggests.
    func naming(store: String?) -> CommandError {
        let next = self.next(naming: store ?? ProcessInfo.processInfo.environment["STORAGEKIT_STORE"])
        guard let store else { return CommandError(status, what, why: why, next: next) }
        let name = store.quotedAsShellWord
        guard let command = next.range(of: "storagekit ", options: .backwards),
            case let words = next[command.upperBound...], !words.contains(" -s "), !words.hasPrefix("help"),
            !words.hasPrefix("restore "), !words.hasSuffix("-help"), !words.hasSuffix("."), !words.hasSuffix("…")
        else { return CommandError(status, what, why: why, next: next) }
        // No option is accepted after `--`, which is an operand's if it isn't in quotes.
        let named =
            words.contains(" -- ") ? "\(next[..<command.upperBound])-s \(name) \(words)" : "\(next) -s \(name)"
        return CommandError(status, what, why: why, next: named)
    }

    /// Runs a command that reads a file which isn't the store of its options: an error of the store names that file.
    static func naming<Result>(file: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as StorageError {
            let error = CommandError(error)
            throw CommandError(error.status, error.what, why: error.why, next: error.next(naming: file))
        }
    }

    private func next(naming store: String?) -> String {
        guard let store else { return next }
        let words = next.split(separator: " ", omittingEmptySubsequences: false)
        return words.map { $0 == "STORE" ? store.quotedAsShellWord : String($0) }.joined(separator: " ")
    }

    /// An error of the store.
    init(_ error: StorageError) {
        // A cause that the message already contains isn't repeated.
        let isReported = (error.cause as? StorageError).map { error.message.contains($0.message) } ?? false
        if error.code == .busy, error.message.contains(" while running `") {
            // SQLite's lock error doesn't name the holder, and the user hasn't typed the statement.
            self.init(
                .unavailable, "Another program holds a lock on the store's file.",
                why: "It has a transaction open that isn't StorageKit's own, such as one of sqlite3.",
                next: "End that transaction, then try again. Who has the file open: fuser -v STORE")
            return
        }
        var cause = isReported ? "" : error.cause.map { "\($0)" } ?? ""
        // "SQLite error 1: no such table: x - while executing `…`", of which the message has all.
        if let statement = cause.range(of: " - while executing"), let code = cause.range(of: ": "),
            code.upperBound <= statement.lowerBound,
            error.message.contains(cause[code.upperBound..<statement.lowerBound])
        {
            cause = ""
        }
        self.init(ExitStatus(of: error.code), error.message, why: cause, next: Self.advice(of: error))
    }

    /// The remedy of an error of the store, without what only a program can do.
    static func advice(of error: StorageError) -> String {
        // Commands that can work so open the store for reading only as it is.
        error.remedy.replacing(", or open the store for reading only", with: "")
            .replacing("have it replaced (replacing: true, --force)", with: "add --force to replace it")
            .replacing(
                "Change rows in `write`. If the store was opened with `isReadOnly`, open it for writing; else check",
                with: "Check"
            )
            .replacing(
                "If it is right, set maximumClockJump of the configuration.",
                with: "If it is right, a program has to store it, with another maximumClockJump.")
    }

    /// Any error that reaches the top of a command.
    init(wrapping error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as StorageError: self.init(error)
        case let error as OutputFailure:
            self.init(.unavailable, "Writing the output failed.", why: error.reason, next: error.remedy)
        case let error as GrammarError: self.init(.usage, error.problem, next: error.examples)
        case let error as InputError:
            self.init(.usage, "Byte \(error.offset + 1): \(error.problem).", next: error.remedy)
        default:
            self.init(
                .inconclusive, "An unexpected error stopped the command.", why: "\(error)",
                next: "Check the store: storagekit doctor")
        }
    }
}
