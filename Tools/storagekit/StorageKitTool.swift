import ArgumentParser
import CSQLite
import Foundation
import StorageCore

/// The entry point of the executable.
package enum CommandLineTool {
    /// Runs the command that the process's arguments name and ends the process with its status.
    package static func main() -> Never {
        // Before anything asynchronous, which opens descriptors of its own.
        StandardDescriptors.occupy()
        Task {
            await StorageKitTool.main()
            Foundation.exit(ExitStatus.done.rawValue)
        }
        dispatchMain()
    }

    /// Runs one command in a process that continues afterwards.
    ///
    /// - Returns: The status that a separate process would exit with.
    package static func run(_ arguments: [String]) async -> Int32 {
        await StorageKitTool.status(running: arguments).rawValue
    }
}

/// The command-line tool.
struct StorageKitTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storagekit",
        abstract: "Inspect, replay, rebuild and audit a StorageKit store.",
        version: ToolVersion.text,
        subcommands: [
            ImportCommand.self, ExportCommand.self, AdoptCommand.self,
            LogCommand.self, ShowCommand.self, HistoryCommand.self, DiffCommand.self, BlameCommand.self,
            GrepCommand.self, BisectCommand.self, AtCommand.self, SQLCommand.self, ExplainCommand.self,
            TailCommand.self, WatchCommand.self, UICommand.self,
            ReplayCommand.self, CompareReplayCommand.self,
            TagCommand.self, NoteCommand.self, RevertCommand.self, UndoCommand.self, RedoCommand.self,
            RestoreStateCommand.self, ExecCommand.self,
            BackupCommand.self, RestoreCommand.self,
            SchemaCommand.self, StatsCommand.self, MetricsCommand.self, VerifyCommand.self, DoctorCommand.self,
            RebuildCommand.self, RecordCommand.self, GuardCommand.self,
            ProjectionsCommand.self, SourcesCommand.self, OutboxCommand.self, ServeCommand.self, TokensCommand.self,
            MCPCommand.self, CompletionsCommand.self, CompleteCommand.self, ManualCommand.self,
        ])

    /// Prints an overview if no command is given.
    func run() throws {
        try Self.show(Overview.text)
    }

    /// Runs the command that the arguments name and ends the process with its status.
    ///
    /// ArgumentParser's own `main` would exit with its own statuses; ours are a contract (`ExitStatus`).
    static func main() async {
        // If the output's reader exits early, the write must fail and not end the process.
        signal(SIGPIPE, SIG_IGN)
        // If it is ignored, as a program that has started this one may have left it, no status of a child is kept.
        signal(SIGCHLD, SIG_DFL)
        storage_give_back_large_memory()
        ServedCommand.begin()
        do {
            try checkArguments()
            try checkLinks()
            try checkZone()
        } catch {
            Foundation.exit(status(reporting: error).rawValue)
        }
        let status = await status(running: Array(CommandLine.arguments.dropFirst()))
        Pager.finish()
        if status != .done { Foundation.exit(status.rawValue) }
    }

    /// Runs the command that the arguments name, and reports why it ended, if there is something to report.
    fileprivate static func status(running arguments: [String]) async -> ExitStatus {
        do {
            // As in git, before the command.
            let isPaged = arguments.first != "--no-pager"
            let words = try CommandWords.ordered(isPaged ? arguments : Array(arguments.dropFirst()), for: Self.self)
            if let topic = CommandWords.topic(words) {
                try show(topic)
                return .done
            }
            if isPaged, CommandWords.isHelp(words) { Pager.request() }
            var command = try parseAsRoot(try HyphenArguments.protected(words))
            if isPaged, (command as? any PagedCommand)?.isPaged ?? false { Pager.request() }
            if var asyncCommand = command as? any AsyncParsableCommand {
                try await asyncCommand.run()
            } else {
                try command.run()
            }
            return .done
        } catch {
            return status(reporting: error)
        }
    }

    private static func show(_ text: String) throws {
        let output = StandardOutput()
        try output.write(text)
        try output.flush()
    }

    /// Text that isn't UTF-8 would be stored with replacement characters.
    private static func checkArguments() throws(CommandError) {
        for (index, argument) in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
            .enumerated()
        {
            guard let argument, String(validatingCString: argument) == nil else { continue }
            throw CommandError(
                .usage, "Argument \(index) isn't UTF-8: \"\(String(cString: argument))\".",
                next: "Write it in UTF-8; a terminal does where LANG ends with .UTF-8.")
        }
    }

    /// A wrong template would otherwise only be noticed as broken links.
    private static func checkLinks() throws(CommandError) {
        guard isatty(1) == 1, case .failure(let error) = PointLinks.current else { return }
        throw CommandError(.usage, error.problem, next: error.examples)
    }

    /// Where local times were asked for, an unknown zone would silently be UTC.
    private static func checkZone() throws(CommandError) {
        let environment = ProcessInfo.processInfo.environment
        guard TimeDisplay.chosen(CommandLine.arguments, environment: environment, isTerminal: false) == .local,
            let zone = TimeDisplay.unknownZone(environment)
        else { return }
        throw CommandError(.usage, "TZ names an unknown time zone, '\(zone)'.", next: TimeDisplay.zoneRemedy)
    }

    /// Reports why the command ended, if there is something to report.
    private static func status(reporting error: any Error) -> ExitStatus {
        if error is BrokenPipe { return .done }
        if let status = error as? ExitStatus { return status }
        // Only the parser's own errors can be help. It formats its help to find out, which takes longer than most commands.
        let isOwn = error is CommandError || error is StorageError || error is OutputFailure
        let code = isOwn ? ExitCode.failure : exitCode(for: error)
        if code == .success {
            // Help and version were requested, so they go to standard output.
            do {
                try show(fullMessage(for: error) + "\n")
                return .done
            } catch {
                return status(reporting: error)
            }
        }
        let error =
            code == .validationFailure
            ? usageError(message(for: error), whole: fullMessage(for: error))
            : asTyped(CommandError(wrapping: error)).naming(store: namedStore)
        report(error.rendered(style: Terminal(descriptor: 2).style(.auto)))
        return error.status
    }

    /// Returns the error for the words, with the line that does here what they do in another tool.
    private static func usageError(_ message: String, whole: String) -> CommandError {
        let words = Array(CommandLine.arguments.dropFirst())
        let error = asTyped(CommandError(usage: message, of: whole))
        // Words that can't be ordered are reported by their own error.
        let ordered = (try? CommandWords.ordered(words, for: Self.self)) ?? words
        guard let next = FirstGuesses.next(for: message, ordered, root: Self.self) else {
            return error.naming(store: namedStore)
        }
        // The command's name here is a better suggestion than a similar word.
        let what = error.what.range(of: " Did you mean '").map { String(error.what[..<$0.lowerBound]) } ?? error.what
        return CommandError(.usage, what, next: next).naming(store: namedStore)
    }

    /// Returns an error with relative points as they were typed: `HyphenArguments` writes -2h as now-2h.
    private static func asTyped(_ error: CommandError) -> CommandError {
        guard !CommandLine.arguments.contains(where: { $0.contains("now-") }) else { return error }
        func typed(_ text: String) -> String {
            (0...9).reduce(text) { $0.replacing("now-\($1)", with: "-\($1)") }
        }
        return CommandError(error.status, typed(error.what), why: typed(error.why), next: typed(error.next))
    }

    /// The store as it was named on the command line.
    private static var namedStore: String? {
        PointLinks.store(CommandLine.arguments)
    }

    private static func report(_ text: String) {
        // If even standard error can't be written, only the exit status remains.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
