import ArgumentParser

/// The shells that complete command lines.
enum CompletionShellName: String, CaseIterable, ExpressibleByArgument, Sendable {
    case bash, zsh, fish
}
