import ArgumentParser

/// `storagekit completions`: the script that makes a shell complete commands, options and values.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print a completion script for a shell.",
        discussion: """
              storagekit completions bash > ~/.local/share/bash-completion/completions/storagekit
              storagekit completions zsh > ~/.zfunc/_storagekit
              storagekit completions fish > ~/.config/fish/completions/storagekit.fish

            For zsh, have this in ~/.zshrc: fpath+=(~/.zfunc); autoload -Uz compinit; compinit

            Tab completes commands, options, files, and what the store has: tables, columns, rows (posts/a), points, \
            tags, actors. The store is the one of -s, or of STORAGEKIT_STORE; it is only read.
            """)

    @Argument(help: "The shell.")
    var shell: CompletionShellName

    func run() throws {
        let output = StandardOutput()
        try output.write(CompletionScript.text(for: shell))
        try output.flush()
    }
}
