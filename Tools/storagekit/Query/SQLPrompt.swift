import ArgumentParser
import CSQLite
import Foundation
import StorageKit
import Synchronization

/// Reads queries from a terminal, one after another, for `sql` without a query.
final class SQLPrompt {
    static let help = """
        SELECT …;     a query, in one line or several
        \\d [TABLE]    the tables and their columns, or those of one (.tables, .schema TABLE)
        \\x            rows vertically, or not any more (.mode line, .mode table)
        \\?            this list (.help)
        \\q            the end (.quit, Ctrl-D)

        """

    private let command: SQLCommand
    private let words: CurrentWords
    private let editor: LineEditor
    private var isExpanded: Bool

    /// The words that Tab completes, as of the last query.
    private final class CurrentWords {
        var words = SQLWords(tables: [])
    }

    /// Creates a prompt if input and output are terminals; otherwise nil.
    init?(_ command: SQLCommand) {
        let words = CurrentWords()
        guard command.format.format == .human,
            let editor = LineEditor("sql", candidates: { words.words.candidates(for: $0) })
        else { return nil }
        (self.command, self.words, self.editor) = (command, words, editor)
        isExpanded = command.rows.expanded
    }

    func run() async throws {
        // Ctrl-C discards the typed line or ends the running query. Between the two it has no effect.
        let previous = signal(SIGINT) { _ in }
        defer { signal(SIGINT, previous) }
        words.words = try await command.store.read { try SQLWords($0) }
        try write("Type a query that ends with ; or \\? for a list of commands.\n")
        var text = ""
        while true {
            switch editor.read(prompt: text.isEmpty ? "sql> " : "...> ") {
            case .end:
                try write("\n")
                if text.isEmpty { return }
                text = ""
            case .interrupted: text = ""
            case .line(let line):
                if text.isEmpty, line.allSatisfy(\.isWhitespace) { continue }
                if text.isEmpty, line.hasPrefix("\\") || line.hasPrefix(".") || ["quit", "exit"].contains(line) {
                    editor.remember(line)
                    guard await obey(line.split(separator: " ").map(String.init)) else { return }
                    continue
                }
                text += line + "\n"
                // A semicolon in a string or a comment doesn't end a query.
                guard sqlite3_complete(text) != 0 else { continue }
                editor.remember(text)
                await answer(text)
                text = ""
            }
        }
    }

    /// - Returns: Whether to continue.
    private func obey(_ words: [String]) async -> Bool {
        do {
            switch words.first {
            case "\\q", ".quit", ".exit", "quit", "exit": return false
            case "\\?", ".help", "\\h": try write(Self.help)
            case "\\x": isExpanded.toggle()
            case ".mode" where words.count == 2: isExpanded = words[1] == "line"
            case "\\d", ".tables", ".schema": try await showTables(Array(words.dropFirst()))
            default:
                throw CommandError(
                    .usage, "There is no command '\(words.first ?? "")'.", next: "Type \\? for the list.")
            }
        } catch {
            report(error)
        }
        return true
    }

    private func showTables(_ names: [String]) async throws {
        let path = try command.store.path()
        let schema = try SchemaTablesCommand.parse(
            ["--store", path, "--color", command.format.color.rawValue, "--"] + names)
        try await schema.run()
    }

    private func answer(_ sql: String) async {
        var rows = command.rows.display
        rows.isExpanded = isExpanded
        let (command, shown) = (command, rows)
        if command.isPagedAtPrompt { Pager.request(endsBySignal: false) }
        let interrupt = QueryInterrupt()
        do {
            words.words = try await command.store.read { store in
                try interrupt.during(store.connection) { try command.answer(sql, shown, store) }
                return try SQLWords(store)
            }
        } catch  where interrupt.isRaised {
            Pager.finish()
            report(CommandError(.inconclusive, "The query was interrupted."))
        } catch is BrokenPipe {
            // The user has closed the pager.
        } catch {
            Pager.finish()
            report(error)
        }
        Pager.finish()
    }

    private func report(_ error: any Error) {
        let style = Terminal(descriptor: 2).style(command.format.color)
        // Without standard error there is nowhere to report it.
        try? FileHandle.standardError.write(contentsOf: Data(CommandError(wrapping: error).rendered(style: style).utf8))
    }

    private func write(_ text: String) throws {
        let output = StandardOutput()
        try output.write(text)
        try output.flush()
    }
}
