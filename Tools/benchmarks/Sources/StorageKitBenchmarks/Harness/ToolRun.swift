import Foundation

/// One run of a program whose standard output is read to its end: what a user waits for, and what it costs in memory.
struct ToolRun {
    let secondsToFirstLine: Double
    let seconds: Double
    /// The most memory that it had resident at any time up to its last output; nil where the system can't tell.
    let peakBytes: Double?
    /// Without what follows the first newline.
    let firstLine: String

    /// - Parameter path: Of the program.
    init(_ path: String, _ arguments: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchmarkError("There is no pipe to be had.") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])
        defer { posix_spawn_file_actions_destroy(&actions) }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        let start = ContinuousClock.now
        var process: pid_t = 0
        let status = posix_spawn(&process, path, &actions, nil, &words, environ)
        close(ends[1])
        defer { close(ends[0]) }
        guard status == 0 else { throw BenchmarkError("\(path) doesn't start: \(String(cString: strerror(status)))") }
        var line: [UInt8] = []
        var first: Duration?
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var peak: Double?
        var sampled: ContinuousClock.Instant?
        while true {
            let count = read(ends[0], &bytes, bytes.count)
            guard count > 0 else { break }
            if sampled.map({ ContinuousClock.now - $0 > .milliseconds(5) }) ?? true {
                // Not what wait4(2) tells: that counts what this process has resident too.
                peak = ResidentMemory.peak(of: process) ?? peak
                sampled = .now
            }
            guard first == nil else { continue }
            line += bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
            if bytes[..<count].contains(UInt8(ascii: "\n")) { first = ContinuousClock.now - start }
        }
        var exit: Int32 = 0
        waitpid(process, &exit, 0)
        let whole = ContinuousClock.now - start
        guard exit == 0 else {
            throw BenchmarkError("\(([path] + arguments).joined(separator: " ")) ended with \(exit >> 8).")
        }
        secondsToFirstLine = (first ?? whole) / .seconds(1)
        seconds = whole / .seconds(1)
        peakBytes = peak
        firstLine = String(decoding: line, as: UTF8.self)
    }
}
