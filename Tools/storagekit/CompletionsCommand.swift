import ArgumentParser

/// `storagekit completions`: what makes a shell complete commands and options.
struct CompletionsCommand: ParsableCommand {
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish

        var shell: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print a completion script for a shell.",
        discussion: """
              storagekit completions bash > ~/.local/share/bash-completion/completions/storagekit
              storagekit completions zsh > ~/.zfunc/_storagekit
              storagekit completions fish > ~/.config/fish/completions/storagekit.fish
            """)

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws {
        let output = StandardOutput()
        try output.write(StorageKitTool.completionScript(for: shell.shell))
        try output.write("\n")
        try output.flush()
    }
}
