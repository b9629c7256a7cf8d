import ArgumentParser
import Foundation

/// `storagekit complete`: called by the script of `completions` at each press of Tab.
///
/// It never waits, and reports no errors: they would be printed into the line that is being typed.
struct CompleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete", abstract: "List completions at the cursor, for completion scripts.",
        shouldDisplay: false)

    @Argument(help: "The shell.")
    var shell: CompletionShellName

    @Argument(help: "The command line up to the cursor.")
    var line: String

    @Argument(help: "What bash replaces: the end of the line.")
    var replaced: String?

    func run() async throws {
        Self.endInTime()
        let environment = ProcessInfo.processInfo.environment
        let typed = ShellLine(line, shell, environment: environment)
        let request = CompletionRequest(
            Array(typed.words.dropFirst()), current: typed.current, of: CompletedCommand(StorageKitTool.self),
            leading: CommandWords.options,
            topics: CommandWords.topics.keys.sorted())
        let completer = Completer(
            request: request, current: typed.current, isQuoted: typed.quote != nil, environment: environment)
        // If letters differ in case, fish rewrites the whole word and drops its quotation marks.
        let candidates = await completer.candidates().filter { shell != .fish || $0.begins(with: typed.current) }
        let output = StandardOutput()
        for candidate in candidates {
            try output.writeLine(text(candidate, typed, isAlone: candidates.count == 1))
        }
        // bash and fish close the quotation mark after an only candidate. If more is to be typed inside it, a second candidate keeps it open.
        if candidates.count == 1, candidates[0].isPartial, candidates[0].isChosen, typed.quote != nil, shell != .zsh {
            let longer = Candidate(text: candidates[0].text + " ", isPartial: true)
            try output.writeLine(text(longer, typed, isAlone: false))
        }
        try output.flush()
    }

    private func text(_ candidate: Candidate, _ typed: ShellLine, isAlone: Bool) -> String {
        switch shell {
        case .bash:
            // Readline replaces the text after the last of certain characters; the text up to there is kept.
            let kept = ShellLine(String(line.dropLast(replaced?.count ?? 0)), shell).current
            guard candidate.begins(with: kept) else { return "" }
            let rest = String(decoding: candidate.text.utf8.dropFirst(kept.utf8.count), as: UTF8.self)
            let text = typed.typed(rest, isWordStart: kept.isEmpty)
            guard let quote = typed.quote else { return text + (candidate.isPartial ? "" : " ") }
            // Readline closes a quotation mark itself, unless the text ends with one.
            return text + (isAlone && !candidate.isPartial && text.last == quote ? "\(quote)" : "")
        case .zsh: return "\(candidate.isPartial ? "part" : "whole")\t\(candidate.text)\t\(candidate.about)"
        case .fish: return candidate.about.isEmpty ? candidate.text : "\(candidate.text)\t\(candidate.about)"
        }
    }

    /// Ends the process without an answer after 5 seconds, for example on a disk that hangs.
    private static func endInTime() {
        signal(SIGALRM) { _ in _exit(0) }
        alarm(5)
    }
}
