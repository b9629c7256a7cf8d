import ArgumentParser
import Foundation
import StorageKit

/// `storagekit ui`: a store in a terminal, by keyboard.
struct UICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ui", abstract: "Browse a store in the terminal.",
        discussion: """
            Shows the log, newest first. Enter shows a commit, the history of a row or a cell, or the rows of a table; \
            q goes back. RANGE and TARGETs filter as those of log.

              storagekit ui -s app.sqlite
              storagekit ui -s app.sqlite users/42
              storagekit ui --link "storagekit://localhost/home/anna/app.sqlite?point=t:12"

            Keys:

            \(HelpLines.text)

            c shows the command that prints what is on the screen. Commits of other programs are counted at the top \
            until f shows them. Undo, redo and revert show what they would change, ask for a reason and for \
            confirmation, and then run as the commands do.
            """)

    @Argument(help: ArgumentHelp("A range, then tables, rows or cells.", valueName: "range-or-target"))
    var words: [String] = []

    @OptionGroup var store: StoreOption

    @Option(name: .long, help: "When to use colours.")
    var color: ColorChoice = .auto

    @Option(
        help: ArgumentHelp(
            "Show the commit that a link names; STORAGEKIT_LINK=ui makes such links of points.", valueName: "url"),
        transform: { try StoreLink($0) })
    var link: StoreLink?

    // It was parsed before the command line was.
    @Option(name: .long, help: "Read and show times in UTC or in your zone. Default: your zone.")
    var time: TimeDisplay?

    func validate() throws {
        if link != nil, store.store != nil { throw ValidationError("--link names the store: leave --store out.") }
    }

    func run() async throws {
        try Self.requireTerminal()
        var store = store
        if let link { store.store = link.path }
        let path = try store.path()
        let commit = try await commit(of: store)
        let reader = try BrowserReader(store)
        var browser = Browser(
            store: store.store, name: URL(fileURLWithPath: path).lastPathComponent, size: TerminalMode.size,
            filter: try LogFilter(words: words))
        // The log is below it, as if the commit had been selected there. No read is in progress that the screen could cancel.
        if let commit { _ = browser.push(.commit(commit)) }
        let shown = browser
        let style = Terminal(descriptor: 1).style(color)
        // Waiting for keys blocks, which must not happen on a thread of the cooperative pool.
        let signal: Int32? = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try BrowserSession(shown, reader, style: style).run() })
            }
        }
        try await reader.close()
        // A shell expects a program that ends because of a signal to end by that signal.
        if let signal { ThreadSignal.send(signal) }
    }

    /// The commit of the link; nil if none is given, or if it names the store before its first commit.
    private func commit(of store: StoreOption) async throws -> Int64? {
        guard let point = link?.point else { return nil }
        return try await store.read { reader in try reader.index.commit(at: reader.position(of: point))?.info.number }
    }

    private static func requireTerminal(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let terminal = environment["TERM"] ?? ""
        let why: String
        if isatty(0) != 1 {
            why = "Standard input isn't a terminal."
        } else if isatty(1) != 1 {
            why = "Standard output isn't a terminal."
        } else if terminal.isEmpty || terminal == "dumb" {
            why = "The terminal can't move its cursor: TERM is \(terminal.isEmpty ? "not set" : terminal)."
        } else {
            return
        }
        throw CommandError(
            .usage, "storagekit ui needs a terminal.", why: why,
            next: "storagekit log, storagekit show and storagekit tail print to anything.")
    }
}
