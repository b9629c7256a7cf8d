import Foundation

/// The pager's command, and how it is started.
struct PagerCommand: Equatable {
    /// The shell command, as users write it in `PAGER`.
    let text: String

    /// Characters that require a shell to run the command.
    private static let shellSigns = "|&;<>()$`\\\"' \t\n*?[#~=%"

    /// Uses `STORAGEKIT_PAGER`, `PAGER`, or less; nil if output isn't to be paged, or the program doesn't exist.
    init?(environment: [String: String]) {
        let text = environment[Pager.environmentKey] ?? environment["PAGER"] ?? "less"
        guard !text.isEmpty, text != "cat", Self.isThere(text, path: environment["PATH"] ?? "") else { return nil }
        self.text = text
    }

    /// Returns whether its first word is a program. A command that requires a shell is assumed to exist.
    private static func isThere(_ text: String, path: String) -> Bool {
        guard let program = text.split(whereSeparator: \.isWhitespace).first else { return false }
        if program.contains(where: shellSigns.contains) { return true }
        if program.contains("/") { return access(String(program), X_OK) == 0 }
        return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// Starts the pager in this process's group, so that it may read from the terminal.
    ///
    /// - Returns: The process id; nil if it can't be started.
    func start(input: Int32, environment: [String: String]) -> pid_t? {
        var environment = environment
        // As in git: output that fits on a screen isn't paged, colours are shown, and the screen isn't cleared.
        if environment["LESS"] == nil { environment["LESS"] = "FRX" }
        if environment["LV"] == nil { environment["LV"] = "-c" }
        var program = SpawnedProgram.shell(text, environment: environment)
        program.descriptors = [(source: input, target: 0)]
        return try? program.start()
    }
}
