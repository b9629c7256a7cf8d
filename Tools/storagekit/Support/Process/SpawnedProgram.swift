import Foundation

/// A program that is started in this process's group, so that it may read from the terminal.
struct SpawnedProgram {
    /// Why a program wasn't started.
    struct Failure: Error {
        /// The error's number, of `errno.h`.
        let code: Int32
        var reason: String { String(cString: strerror(code)) }
    }

    let path: String
    let arguments: [String]
    let environment: [String: String]
    /// Whether its standard input is empty, and not this process's.
    var hasEmptyInput = false
    /// File descriptors to duplicate into the program (dup2), in this order.
    var descriptors: [(source: Int32, target: Int32)] = []
    /// The signals that this process handles, whose default actions it has. SIGPIPE, which this process ignores, is always one.
    var defaultSignals: Set<Int32> = []

    /// A command of the user, for `sh`.
    static func shell(_ command: String, environment: [String: String]) -> SpawnedProgram {
        SpawnedProgram(path: "/bin/sh", arguments: ["-c", command], environment: environment)
    }

    /// - Returns: The id of the process.
    func start() throws(Failure) -> pid_t {
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
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
        if hasEmptyInput { posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) }
        for pair in descriptors { posix_spawn_file_actions_adddup2(&actions, pair.source, pair.target) }
        // Threads of the cooperative pool block signals, which the program would inherit, as it would the ignored SIGPIPE.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in defaultSignals.union([SIGPIPE]) { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        let code = posix_spawn(&process, path, &actions, &attributes, words, variables)
        guard code == 0 else { throw Failure(code: code) }
        return process
    }
}
