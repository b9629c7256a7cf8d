import Foundation

/// One run of a program whose standard output is read to its end: what a user waits for, and what it costs in memory.
struct ToolRun {
    let secondsToFirstLine: Double
    let seconds: Double
    /// The most memory that it had resident at any time.
    let peakBytes: Double
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
        while true {
            let count = read(ends[0], &bytes, bytes.count)
            guard count > 0 else { break }
            guard first == nil else { continue }
            line += bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
            if bytes[..<count].contains(UInt8(ascii: "\n")) { first = ContinuousClock.now - start }
        }
        var usage = rusage()
        var exit: Int32 = 0
        wait4(process, &exit, 0, &usage)
        let whole = ContinuousClock.now - start
        guard exit == 0 else {
            throw BenchmarkError("\(([path] + arguments).joined(separator: " ")) ended with \(exit >> 8).")
        }
        secondsToFirstLine = (first ?? whole) / .seconds(1)
        seconds = whole / .seconds(1)
        // Linux counts kilobytes.
        peakBytes = Double(usage.ru_maxrss) * 1_024
        firstLine = String(decoding: line, as: UTF8.self)
    }
}
