import Foundation

/// Which program pages, and how it is started.
struct PagerCommand: Equatable {
    /// The words of a shell, as users write them into `PAGER`.
    let text: String

    /// Signs for which a shell has to read the command.
    private static let shellSigns = "|&;<>()$`\\\"' \t\n*?[#~=%"

    /// `STORAGEKIT_PAGER`, `PAGER`, or less; nil where output isn't to be paged, or the program isn't there.
    init?(environment: [String: String]) {
        let text = environment[Pager.environmentKey] ?? environment["PAGER"] ?? "less"
        guard !text.isEmpty, text != "cat", Self.isThere(text, path: environment["PATH"] ?? "") else { return nil }
        self.text = text
    }

    /// Whether its first word is a program. What only a shell can read is taken on trust.
    private static func isThere(_ text: String, path: String) -> Bool {
        guard let program = text.split(whereSeparator: \.isWhitespace).first else { return false }
        if program.contains(where: shellSigns.contains) { return true }
        if program.contains("/") { return access(String(program), X_OK) == 0 }
        return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// Starts it in this process's group, so that it may read the terminal's keys.
    ///
    /// - Returns: The process; nil where it can't be started.
    func start(input: Int32, environment: [String: String]) -> pid_t? {
        var environment = environment
        // As git has it: what fits on a screen stays there, colours are colours, and the screen isn't cleared.
        if environment["LESS"] == nil { environment["LESS"] = "FRX" }
        if environment["LV"] == nil { environment["LV"] = "-c" }
        let words = ["/bin/sh", "-c", text]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in arguments + variables { free(pointer) } }
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        // This process ignores it, and the pager would inherit that.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var pid: pid_t = 0
        guard posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, variables) == 0 else { return nil }
        return pid
    }
}
