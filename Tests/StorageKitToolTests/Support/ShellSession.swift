import Foundation
import TestSupport

/// An interactive shell in a real terminal, whose prompt is `ready>`.
struct ShellSession {
    /// The shells that people use; those that aren't installed are skipped, and `Tools/test --all` installs all of them.
    static let names = ["bash", "zsh", "fish"]

    let session: TerminalSession

    /// - Parameters:
    ///   - shell: One of `names`.
    ///   - startup: What the shell runs before its first prompt, in its own language.
    init(
        _ shell: String, startup: String = "", rows: Int = 24, environment: [String: String] = [:],
        in folder: TemporaryFolder
    ) async throws {
        let (lines, command): (String, String) =
            switch shell {
            case "bash": ("set +H; PS1='ready> '", "bash --noprofile --rcfile startup -i")
            case "zsh": ("bindkey -e; setopt no_bang_hist; PS1='ready> '", "ZDOTDIR=\"$PWD\" zsh -i")
            default:
                (
                    "function fish_prompt; printf 'ready> '; end\nfunction fish_greeting; end",
                    "fish --no-config --init-command 'source startup'"
                )
            }
        let file = folder.path(shell == "zsh" ? ".zshrc" : "startup")
        try Data("\(startup)\n\(lines)\n".utf8).write(to: URL(fileURLWithPath: file))
        session = try TerminalSession(command, columns: 160, rows: rows, environment: environment, in: folder)
        try await session.wait { $0.contains("ready>") }
    }

    func run(_ line: String) throws {
        try session.type(line)
        try session.press("Enter")
    }
}
